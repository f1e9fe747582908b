"""Countries by their names in Korean and English: what a query states, and what the metadata
of a document says, are compared as ISO 3166-1 alpha-2 codes."""

import re

# fmt: off
_NAMES = {
    "KR": "한국 대한민국 korea south-korea republic-of-korea korean", "KP": "북한 north-korea",
    "US": "미국 usa united-states united-states-of-america america american",
    "JP": "일본 japan japanese", "CN": "중국 china chinese", "TW": "대만 taiwan taiwanese",
    "GB": "영국 uk united-kingdom great-britain britain british", "FR": "프랑스 france french",
    "DE": "독일 germany german", "IT": "이탈리아 italy italian", "ES": "스페인 spain spanish",
    "CA": "캐나다 canada canadian", "AU": "호주 오스트레일리아 australia australian",
    "IN": "인도 india indian", "RU": "러시아 russia russian", "BR": "브라질 brazil brazilian",
    "VN": "베트남 vietnam vietnamese", "SG": "싱가포르 singapore", "TH": "태국 thailand thai",
    "ID": "인도네시아 indonesia indonesian", "MY": "말레이시아 malaysia malaysian",
    "PH": "필리핀 philippines", "MX": "멕시코 mexico mexican", "NL": "네덜란드 netherlands dutch",
    "SE": "스웨덴 sweden swedish", "CH": "스위스 switzerland swiss", "TR": "터키 튀르키예 turkey",
    "NO": "노르웨이 norway norwegian", "DK": "덴마크 denmark danish",
    "FI": "핀란드 finland finnish", "PL": "폴란드 poland polish",
    "AT": "오스트리아 austria austrian", "BE": "벨기에 belgium",
    "NZ": "뉴질랜드 new-zealand", "ZA": "남아프리카공화국 south-africa", "EG": "이집트 egypt",
    "SA": "사우디아라비아 saudi-arabia", "IL": "이스라엘 israel", "UA": "우크라이나 ukraine",
}
# fmt: on
COUNTRY_NAMES = {
    name.replace("-", " "): code for code, names in _NAMES.items() for name in names.split()
}
_CODE = re.compile(r"[A-Za-z]{2}")


def country_code(text: str) -> str | None:
    """The code for a name or code in any case; None where it is neither."""
    folded = " ".join(text.casefold().replace(".", "").split())
    if folded in COUNTRY_NAMES:
        return COUNTRY_NAMES[folded]
    return folded.upper() if _CODE.fullmatch(folded) else None
