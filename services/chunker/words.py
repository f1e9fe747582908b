"""Word lists of the keyword rules: closed classes of English and Korean."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ENGLISH_STOP = frozenset(
    _words(
        """
    about above according across actually after again against all almost along already also
    although always among and another any anyone anything are around because become been before
    being below between both but came can cannot case cases come could did does doing done down
    due during each either else etc even ever every example few first for found from further
    gave get give given gives goes gone got had has have having her here him his how however
    into its itself just keep kept know last least less let like likely made mainly make makes
    making many may maybe might more most much must near nearly neither never new next nor not
    nothing now off often once one only onto other others otherwise our out over own part per
    perhaps put rather really said same saw say see seem seen set several shall she should show
    shown shows since some such take taken than that the their them then there therefore these
    they thing things this those though three through thus too took toward towards two under
    until upon use used uses using various very via was way well went were what when where
    whether which while who whole whom whose why will with within without would yet you your
    """
    )
)
KOREAN_STOP = frozenset(
    _words(
        """
    가장 각각 경우 관련 그것 그런 그리고 그러나 그래서 그러면 기타 나머지 다른 다만 다시 다음
    대부분 대하 대한 대해 동안 따라 따라서 때문 또는 또한 또 및 매우 먼저 모두 모든 무엇 바로
    부분 사이 새로운 수도 아래 아주 어떤 어느 언제 여러 여기 역시 오늘 우리 위하 위한 위해 이것
    이런 이를 이미 이번 이상 이하 이후 이전 일부 자신 전체 저희 정도 제외 조금 즉시 지금 통하
    통한 통해 특히 하나 하지만 함께 해당 현재 혹은 후에
    """
    )
)
PARTICLES = tuple(
    sorted(
        _words(
            """
    에서는 에서도 에서의 으로는 으로도 으로써 으로서 으로의 에게서 이라는 이라고 까지는 까지의
    부터는 에는 에도 에서 에게 에의 으로 로써 로서 로는 로의 까지 부터 처럼 보다 마다 조차 라는
    라고 이나 이란 이며 이고 과의 와의 과는 와는 들은 들을 들이 들의 은 는 이 가 을 를 의 에 도
    로 와 과 만
    """
        ),
        key=lambda particle: (-len(particle), particle),
    )
)
"""Korean particles, longest first."""

ABBREVIATIONS = frozenset(
    _words(
        """
    al approx art ca cf ch dept dr e.g ed eds eq esp est etc ex fig figs i.e jr mr mrs ms no nos
    p para pp prof rev sec sect sr st tab vol vols vs
    """
    )
)
"""Words whose full stop ends no sentence."""
