// The texts of the page in both languages.

const WORDS = {
  skip: ["Skip to content", "본문으로 건너뛰기"],
  search: ["Search", "검색"],
  documents: ["Documents", "문서"],
  jobs: ["Jobs", "작업"],
  letters: ["Dead letters", "실패 메시지"],
  api: ["API", "API"],
  leave: ["Forget the key", "키 지우기"],
  key: ["API key", "API 키"],
  keyHelp: ["The key that `make run` printed. It stays in this tab only.",
    "make run이 출력한 키입니다. 이 탭에만 보관됩니다."],
  enter: ["Open", "열기"],
  query: ["What do you want to find evidence for?", "무엇의 근거를 찾을까요?"],
  classic: ["one search", "단일 검색"],
  agentic: ["planned search", "계획 검색"],
  mode: ["Mode", "방식"],
  nothing: ["Nothing found.", "찾은 것이 없습니다."],
  evidence: ["Evidence", "근거"],
  pieces: ["pieces", "개"],
  page: ["page", "쪽"],
  receipt: ["Receipt", "사용 내역"],
  plan: ["Plan", "계획"],
  unopened: ["Not opened", "열지 않은 절"],
  chooseHit: ["Choose a piece to see it on its page.", "근거를 고르면 원문 쪽이 보입니다."],
  noPicture: ["This format has no page pictures; the text above is the source's.",
    "이 형식은 쪽 그림이 없습니다. 위의 글이 원문입니다."],
  copy: ["Copy citation", "인용 복사"],
  copied: ["Copied.", "복사했습니다."],
  verify: ["Verify", "검증"],
  drop: ["Drop files here, or choose them", "파일을 끌어다 놓거나 고르세요"],
  choose: ["Choose files", "파일 선택"],
  name: ["Name", "이름"],
  state: ["State", "상태"],
  stage: ["Stage", "단계"],
  chunks: ["Chunks", "조각"],
  pages: ["Pages", "쪽수"],
  revision: ["Revision", "개정"],
  changed: ["Changed", "변경"],
  more: ["More", "더 보기"],
  outline: ["Outline", "차례"],
  images: ["Images", "그림"],
  diagnostics: ["Diagnostics", "진단"],
  revisions: ["Revisions", "개정 이력"],
  activate: ["Make active", "이 개정으로"],
  active: ["active", "사용 중"],
  remove: ["Delete", "삭제"],
  removeAsk: ["Delete this document everywhere? This cannot be undone.",
    "이 문서를 모든 곳에서 지울까요? 되돌릴 수 없습니다."],
  cancel: ["Cancel", "취소"],
  replay: ["Replay", "다시 보내기"],
  discard: ["Discard", "버리기"],
  reason: ["Cause", "원인"],
  none: ["None.", "없습니다."],
  level: ["level", "단계"],
  failed: ["failed", "실패"],
  headingWhy: ["decided by", "근거"],
  back: ["All documents", "전체 문서"],
  compare: ["Compare with active", "사용 중인 개정과 비교"],
  same: ["No difference.", "차이가 없습니다."],
};

let at = (navigator.language || "en").startsWith("ko") ? 1 : 0;
const chosen = sessionStorage.getItem("language");
if (chosen !== null) at = Number(chosen) ? 1 : 0;

export const t = (name) => (WORDS[name] || [name, name])[at];
export const language = () => (at ? "ko" : "en");

export function switchLanguage(to) {
  at = to === undefined ? 1 - at : Number(to === "ko");
  sessionStorage.setItem("language", String(at));
}
