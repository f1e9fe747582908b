// What the service says in words of its own (states, stages, problems), in the page's language.

import { language } from "./words.js";

const KOREAN = {
  waiting: "대기 중", running: "처리 중", published: "게시됨", failed: "실패", cancelled: "취소됨",
  superseded: "새 개정으로 대체됨", pending: "처리 중", active: "사용 중", erasing: "삭제 중", erased: "삭제됨",
  accepted: "접수됨", staged: "준비 중", collected: "정리됨",
  gateway: "접수", profiler: "형식 확인", parser: "읽기", chunker: "나누기", indexer: "색인",
  ok: "찾음", partial: "일부만 찾음", abstained: "근거 없음", clarification_required: "확인 필요",
  verified: "원문과 같음", mismatch: "원문과 다름",
  text: "글", table: "표", image: "그림", info: "알림", warning: "주의", error: "오류",
  search: "검색", bridge: "이어 찾기", navigate: "절 펼치기", expand: "관련 문서", render: "근거 정리",
  understand: "질문 이해", plan: "계획", verify: "확인", retrieve: "검색",
  complete: "끝까지 찾음", time: "시간이 다 됨", size: "크기 한도", clarification: "되물음", stale: "원문이 바뀜",
  tokens: "토큰", milliseconds: "밀리초", calls: "모델 호출",
};

const PROBLEMS = {
  unauthenticated: ["The key is unknown or revoked.", "등록되지 않았거나 취소된 키입니다."],
  forbidden: ["This key may not do that.", "이 키로는 할 수 없는 일입니다."],
  not_found: ["It is not there, or not yours to see.", "없거나 볼 수 없는 대상입니다."],
  empty: ["The file is empty.", "빈 파일입니다."],
  unreadable: ["The file cannot be read.", "읽을 수 없는 파일입니다."],
  unsupported_format: ["Files of this kind are not read.", "지원하지 않는 형식입니다."],
  encrypted: ["The file is protected by a password.", "암호가 걸린 파일입니다."],
  too_large: ["The file is too large.", "파일이 너무 큽니다."],
  too_slow: ["Reading the file takes too long.", "파일을 읽는 데 너무 오래 걸립니다."],
  hostile: ["The file is refused: it is made to do harm.", "해로운 파일이라 받지 않습니다."],
  no_content: ["Nothing in the file can be searched.", "파일에 검색할 내용이 없습니다."],
  overloaded: ["There is too much to do: try again soon.", "처리할 일이 많습니다. 잠시 뒤 다시 해 주세요."],
  too_many_requests: ["Too many requests: try again soon.", "요청이 너무 많습니다. 잠시 뒤 다시 해 주세요."],
  conflict: ["Somebody else changed it meanwhile.", "그사이 다른 변경이 있었습니다."],
  timeout: ["It took too long.", "시간이 너무 오래 걸렸습니다."],
  internal: ["The service failed.", "서비스에 오류가 났습니다."],
  away: ["The service does not answer. Is it running?", "서비스가 응답하지 않습니다. 실행 중인지 확인해 주세요."],
};

/** Reasons of an answer, by how the service begins to tell them. */
const REASONS = [
  ["nothing that was found is about the query", "찾은 것 가운데 질문에 관한 내용이 없습니다."],
  ["the query holds no word", "질문에 낱말이 없습니다."],
  ["nothing is published in this namespace yet", "아직 게시된 문서가 없습니다. 처리 중인 작업이 있을 수 있습니다."],
  ["no published document satisfies the filters", "조건에 맞는 문서가 없습니다."],
  ["nothing in the searched documents matches", "찾아본 문서에 질문과 맞는 내용이 없습니다."],
  ["the time of this query ended", "시간이 다 되어 일부만 찾았습니다. 다시 물어보세요."],
  ["the tokens of this query ended", "글자 한도가 다 되어 일부만 펼쳤습니다."],
];

/** Why an answer is as it is; in the service's own words where the page has none. */
export function explained(reason) {
  const known = language() === "ko" && REASONS.find(([begin]) => reason.startsWith(begin));
  return known ? known[1] : reason;
}

/** A state, stage or kind as people say it. */
export const said = (name) => (language() === "ko" && KOREAN[name]) || name;

/** A problem in a sentence, with what the service adds to it. */
export function problem(code, detail) {
  const known = PROBLEMS[code];
  if (!known) return detail ? `${code}: ${detail}` : String(code);
  const sentence = known[language() === "ko" ? 1 : 0];
  return detail ? `${sentence} (${detail})` : sentence;
}
