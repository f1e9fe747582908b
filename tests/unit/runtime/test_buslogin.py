"""Where the bus is, and who asks, out of one setting."""

import pytest

from libs.runtime.buslogin import BusLogin, login_of


def test_credentials_are_for_every_server() -> None:
    login = login_of("tls://me:a%40b@one.example:4222, tls://two.example:4223")
    assert login == BusLogin(["tls://one.example:4222", "tls://two.example:4223"], "me", "a@b")
    assert login.options()["user"] == "me"
    assert login.options()["inbox_prefix"] == login.broker()["inbox_prefix"] == "_INBOX_me"
    assert "a@b" not in repr(login)


def test_a_user_alone_is_a_token_and_none_is_needed() -> None:
    assert login_of("nats://secret@host:1").options() == {
        "servers": ["nats://host:1"],
        "token": "secret",
    }
    assert login_of("nats://[::1]:4222").options() == {"servers": ["nats://[::1]:4222"]}


@pytest.mark.parametrize("url", ["", "host", "http://xyzzy:xyzzy@host", "nats://", "nats://a/b"])
def test_another_url_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(ValueError, match="GROUNDWIRE_NATS_URL") as caught:
        login_of(url)
    assert "xyzzy" not in str(caught.value)


def test_a_user_whose_name_is_no_token_has_the_common_inbox() -> None:
    assert login_of("nats://me%40home.example:x@host").options()["inbox_prefix"] == "_INBOX"
