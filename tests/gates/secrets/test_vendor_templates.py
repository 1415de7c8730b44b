"""Credentials as vendors give them out today, each in a line of its own kind, and what looks like one and is not."""

from __future__ import annotations

import base64
import json
import random

import pytest

import tipstaff
from tipstaff.gates.secrets.packs import default_words, made_up

CREDENTIALS = {
    "GitHub fine-grained": "github_pat_{base62:22}_{base62:59}",
    "GitHub classic": "ghp_{crc62:36}",
    "GitLab personal": "glpat-{word:20}",
    "GitLab runner": "glrt-{word:20}",
    "OpenAI project": "sk-proj-{word:74}T3BlbkFJ{word:74}",
    "Anthropic": "sk-ant-api03-{word:93}AA",
    "Google API": "AIza{word:35}",
    "Google OAuth client": "GOCSPX-{word:28}",
    "AWS access key": "AKIA{base32:16}",
    "Slack bot": "xoxb-{digit:12}-{digit:13}-{base62:24}",
    "Slack app": "xapp-1-A{upper:10}-{digit:13}-{hex:64}",
    "Stripe secret": "sk_live_{base62:24}",
    "Stripe restricted": "rk_live_{base62:24}",
    "Stripe webhook": "whsec_{base62:32}",
    "SendGrid": "SG.{word:22}.{word:43}",
    "npm": "npm_{crc62:36}",
    "Docker Hub": "dckr_pat_{word:27}",
    "Hugging Face": "hf_{alpha:34}",
    "Databricks": "dapi{hex:32}",
    "DigitalOcean": "dop_v1_{hex:64}",
    "Netlify": "nfp_{base62:36}",
    "Supabase personal": "sbp_{hex:40}",
    "PlanetScale": "pscale_tkn_{word:43}",
    "Linear": "lin_api_{base62:40}",
    "Notion": "ntn_{digit:11}{base62:35}",
    "Figma": "figd_{word:40}",
    "Shopify": "shpat_{hex:32}",
    "Grafana service account": "glsa_{crc16:32}",
    "New Relic": "NRAK-{upper:27}",
    "Sentry user": "sntryu_{hex:64}",
    "Postman": "PMAK-{hex:24}-{hex:34}",
    "Doppler": "dp.pt.{base62:43}",
    "Terraform Cloud": "{base62:14}.atlasv1.{base62:67}",
    "Vault": "hvs.{word:95}",
    "Pulumi": "pul-{hex:40}",
    "Airtable": "pat{base62:14}.{hex:64}",
    "Groq": "gsk_{base62:52}",
    "xAI": "xai-{base62:80}",
    "Perplexity": "pplx-{base62:48}",
    "Replicate": "r8_{base62:37}",
    "OpenRouter": "sk-or-v1-{hex:64}",
    "LangSmith": "lsv2_pt_{hex:32}_{hex:10}",
    "Resend": "re_{base62:8}_{base62:24}",
    "PostHog personal": "phx_{base62:43}",
    "Brevo": "xkeysib-{hex:64}-{base62:16}",
    "Buildkite": "bkua_{hex:40}",
    "CircleCI": "CCIPAT_{base62:22}_{hex:40}",
    "Contentful": "CFPAT-{word:43}",
    "Mailgun": "{hex:32}-{hex:8}-{hex:8}",
}
LINES = (
    "{}",
    "export SERVICE_API_KEY={}",
    'SERVICE_TOKEN="{}" make deploy',
    "api_key: {}  # of the service",
    '"apiKey": "{}",',
    "const apiKey = '{}';",
    "curl -H 'X-Api-Key: {}' https://service.acme.io/v1/me",
    "| api key | `{}` |",
)
NAMED_ALONE = {"Mailgun"}
"""Credentials whose form is that of digests: only a name makes them one."""


@pytest.mark.parametrize("vendor", CREDENTIALS)
def test_credential_of_a_vendor(vendor: str) -> None:
    value = made_up(CREDENTIALS[vendor])
    for line in LINES[1:7] if vendor in NAMED_ALONE else LINES:
        text = line.format(value)
        at = text.index(value)
        found = [(one.start, one.end) for one in tipstaff.scan_secrets(text)]
        assert (at, at + len(value)) in found, (line, found)


SETTINGS = (
    "The admin password is {}, change it after the first login.",
    "password for the jump host: {}",
    "Password (prod): `{}`",
    "the vpn passphrase was set to {}",
    'password: Some("{}".to_string()),',
    'Password: aws.String("{}"),',
    'dbPassword = Just "{}"',
    "$ENV{{DB_PASSWORD}} = '{}';",
    "parser.add_argument('--password', default='{}')",
    "const password = process.env.DB_PASSWORD ?? '{}';",
    'req.SetBasicAuth("svc", "{}")',
    '<setting name="SmtpPassword" serializeAs="String"><value>{}</value></setting>',
    "curl -su svc:{} https://acme.io",
    "pw: {}",
)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", ["{word:6}7{base62:9}8K", "{upper:4}37{lower:5}4q", "Walnut!comet{digit:4}"])
def test_password_in_a_setting(setting: str, kind: str) -> None:
    value = made_up(kind)
    text = setting.format(value)
    at = text.index(value)
    assert [(one.start, one.end) for one in tipstaff.scan_secrets(text)] == [(at, at + len(value))]


def test_mnemonic_of_a_wallet() -> None:
    words = default_words()["wallet_words"]
    for count in (12, 15, 24):
        phrase = " ".join(random.Random(count).sample(words, count))
        assert tipstaff.scan_secrets(f'mnemonic: "{phrase}"')
        assert not tipstaff.scan_secrets(f'mnemonic: "{phrase} offline"')
    assert not tipstaff.scan_secrets(
        "seed phrase: never share this with anyone else ever please keep them safe offline"
    )


def _look_alikes() -> list[str]:
    chance = random.Random(21)

    def hexes(count: int) -> str:
        return "".join(chance.choices("0123456789abcdef", k=count))

    def base64s(count: int) -> str:
        return base64.b64encode(chance.randbytes(count)).decode()

    uuid = "-".join((hexes(8), hexes(4), hexes(4), hexes(4), hexes(12)))
    return [
        # Digests, identifiers, lock files, integrity.
        *(f"{hexes(size)}  dist/app-{size}.tar.gz" for size in (32, 40, 64, 128)),
        *(f'"{name}": "{hexes(40)}",' for name in ("gitHead", "commit", "revision", "sha", "etag")),
        f'integrity="sha384-{base64s(48)}" crossorigin="anonymous"',
        f"    integrity sha512-{base64s(64)}",
        f'  sha256 "{hexes(64)}"',
        f'checksum = "{hexes(64)}"',
        f"golang.org/x/sys v0.20.0/go.mod h1:{base64s(32)}",
        f"    --hash=sha256:{hexes(64)} \\",
        f"image: registry.acme.io/app@sha256:{hexes(64)}",
        f"uses: acme/setup@{hexes(40)} # v3.1.0",
        f"request_id={uuid} trace={hexes(32)}",
        f'"deployment_id": "{uuid}"',
        f"<project id='{uuid}'/>",
        f'Etag: W/"{hexes(32)}"',
        f"cache-key-{hexes(64)}",
        f'"buildId": "{base64s(15)}"',
        f"index {hexes(7)}..{hexes(7)} 100644",
        # Bundles, maps, pictures, keys that are public.
        f"!function(e,t){{var n=t('{hexes(20)}');e.exports=n}}({{{hexes(6)}:function(e){{}}}})",
        f"//# sourceMappingURL=data:application/json;base64,{base64s(120)}",
        f'"mappings": "AAAA,SAASA,GAAG,{base64s(30)}"',
        f'src="data:image/png;base64,{base64s(300)}"',
        f"url(data:font/woff2;base64,{base64s(200)})",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base64s(32)} dev@laptop",
        f"-----BEGIN PUBLIC KEY-----\n{base64s(48)}\n{base64s(48)}\n-----END PUBLIC KEY-----",
        f"-----BEGIN CERTIFICATE-----\n{base64s(48)}\n{base64s(48)}\n-----END CERTIFICATE-----",
        f"public_key: {base64s(32)}",
        f"NEXT_PUBLIC_STRIPE_KEY=pk_live_{hexes(24)}",
        f"recaptcha_site_key: 6L{hexes(38)}",
        f"posthog.init('phc_{hexes(43)}')",
        # Words of people and of programs.
        '"forgot_password": "Passwort vergessen?"',
        '"yourpassword": "Nov passa-parol:",',
        '"login.password.placeholder": "Введите пароль",',
        'raise ValueError("password must be at least 8 characters")',
        "'password' => 'Symfony\\Component\\Form\\Extension\\PasswordType',",
        'RUN sh -c "[ "$PWD" = "/usr/src/app" ]"',
        "docker run -v `pwd`:/go/src/github.com/acme/app builder",
        "Start-Process tail -PassThru -ErrorAction SilentlyContinue",
        'const SESSION_KEY = "__app_session_v3__";',
        '"version_token": "' + base64s(30) + '"',
        'headerSharedKey = "X-Acme-Expose-Session-Sharedkey"',
        "identified by 'x-acme-copy-id'. Possible values include: 'pending'",
        "$agent->credentials('www.acme.io:443', '', $user, $word);",
        "private_key: keys.service.SigningKey",
        "secret_key = _mm512_xor_si512 (data, key);",
        "my $password = Convert::ASN1->new;",
        "auto password = dialog->findChild<QLineEdit*>(name);",
        'betas = ["token-counting-2024-11-01", "files-api-2025-04-14"]',
        " * @new_password: 0-to-256-unicode-char NewPassword",
        '"private_key", "doc/man/man3/EVP_PKEY_new.3",',
        "The token is base64url-encoded (RFC 4648).",
        "password is compared with hmac.compare_digest",
        "the secret is app-secrets-7f9c8",
        'token = Just <$> readFile "/run/secrets/token"',
        f'"skRm": "{hexes(64)}",\n"pkRm": "{hexes(64)}",\n"shared_secret": "{hexes(64)}",\n"enc": "{hexes(64)}"',
        f"secret: {hexes(64)}\npublic: {hexes(64)}\nshared: {hexes(64)}",
        'secret "1234abcd8765";',
        # Placeholders in ten styles.
        "API_KEY=<your-api-key>",
        "API_KEY=${API_KEY:?}",
        "API_KEY={{ api_key }}",
        "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "API_KEY=REPLACE_WITH_YOUR_KEY_2024",
        "api_key: 'YOUR-API-KEY-GOES-HERE-1234'",
        'token = "test-token-9f8e7d6c"',
        "password: ************",
        "secret: changeme-0123456789",
        "https://user:p4ssw0rd@db.example.com/app",
        "Authorization: Bearer %ACCESS_TOKEN%",
        json.dumps({"apiKey": "sk_test_..."}),
    ]


@pytest.mark.parametrize("text", _look_alikes())
def test_look_alike(text: str) -> None:
    assert [one.rule_id for one in tipstaff.scan_secrets(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        'token : "keyword.operator.assignment",',
        '"refresh_token": "refresh_token"',
        'ACCESS_TOKEN = "OAUTH2_ACCESS_TOKEN"',
        'ReadMembersToken: "read:members_token"',
        'secretPassword: "UsernameAndPassword"',
        'szOID_USER_PASSWORD = "2.5.4.35"',
        f'ClientRequestToken: "{"550e8400-e29b-41d4-"}a716-446655440000"',
        '"password-mismatch": "Os dous contrasinais son distintos.",',
        '"reset-token": "Кодът е изпратен на $1",',
        'buffer = "Token: " + fmt.Sprint(token) + "."',
        'password.encode("utf-16-le")',
        "PASSWORD='<password>' CLIENT_ID='<id>' go test",
    ],
)
def test_a_wary_scan_knows_words_of_programs_and_people(text: str) -> None:
    assert [one.rule_id for one in tipstaff.scan_secrets(text, wary=True)] == []


@pytest.mark.parametrize(
    "value", ["shiny-horse-9", "letmein99x", "correct horse battery staple", "Tr0ub4dor&3", "0123456789"]
)
def test_a_wary_scan_still_asks_about_passwords(value: str) -> None:
    assert tipstaff.scan_secrets(f'password = "{value}"', wary=True)


@pytest.mark.parametrize(
    "address",
    ["postgres://svc:{}@db.acme.io/app", "postgres://svc:{}@db.example.com/app", "https://svc:{}@mail.example/"],
)
def test_random_passwords_are_secrets_at_any_host(address: str) -> None:
    assert tipstaff.scan_secrets(address.format(made_up("{base62:16}")))


@pytest.mark.parametrize("password", ["s3same-open", "orchid77-blue", "letmein-now1"])
def test_passwords_of_words_are_samples_at_hosts_of_documentation(password: str) -> None:
    assert tipstaff.scan_secrets(f"postgres://svc:{password}@db.example.com.acme.io/app")
    assert not tipstaff.scan_secrets(f"postgres://svc:{password}@db.example.com/app")


def test_well_known_passwords_are_no_secrets_in_pairs_either() -> None:
    for password, found in (
        ("s3cr3t", False),
        ("opensesame", False),
        ("secret123", False),
        (made_up("{base62:16}"), True),
    ):
        pair = base64.b64encode(f"aladdin:{password}".encode()).decode()
        assert bool(tipstaff.scan_secrets(f"Authorization: Basic {pair}")) == found, password
