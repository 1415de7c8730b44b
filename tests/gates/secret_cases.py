"""Made-up cases for the secrets scanner: `{base62:16}` stands for so many made-up characters, and « » mark the secret."""

from __future__ import annotations

from typing import Final

FOUND: Final = r"""
ENV DB_PASSWORD «{base62:16}»
ARG NPM_TOKEN=«{base62:32}»
export API_KEY="«{base62:32}»"
$env:API_KEY = "«{base62:32}»"
set PASSWORD=«{base62:14}»
setx SECRET_KEY "«{base62:40}»"
<password>«{base62:14}»</password>
<property name="password" value="«{base62:14}»"/>
<add name="x" connectionString="Server=tcp:a,1433;User ID=svc;Password=«{base62:18}»;Encrypt=True"/>
jdbc:mysql://db:3306/app?user=svc&password=«{base62:18}»&useSSL=true
"password": "«{base62:18}»",
{{\"password\": \"«{base62:18}»\"}}
{{\\\"api_key\\\": \\\"«{base62:32}»\\\"}}
password=%22«{base62:18}»%22
:password => "«{base62:18}»",
'password' => '«{base62:18}»',
define('AUTH_KEY', '«{base62:32}»');
String password = "«{base62:14}»";
private static final String API_KEY = "«{base62:32}»";
var apiKey string = "«{base62:32}»"
let token: &str = "«{base62:40}»";
const apiToken: string = '«{base62:40}»';
#define WIFI_PASSWORD "«{base62:12}»"
val secretKey = "«{base62:32}»"
secret_key: "«{base62:32}»"
config["api_key"] = "«{base62:32}»"
os.environ["SECRET_KEY"] = "«{base62:50}»"
client.setPassword("«{base62:14}»")
--token «{base62:40}»
--password=«{base62:16}»
-Password "«{base62:16}»"
ALTER USER app IDENTIFIED BY '«{base62:16}»';
CREATE ROLE app WITH PASSWORD '«{base62:16}»';
requirepass «{base62:20}»
machine a.io login ci password «{base62:20}»
X-Api-Key: «{base62:40}»
curl -H "X-Auth-Token: «{base62:40}»" https://a.io
curl -u ci:«{base62:20}» https://a.io
amqp://svc:«{base62:18}»@mq.acme.io:5672/vhost
mysql://svc:«{base62:18}»@db/app
sqlserver://svc:«{base62:18}»@db:1433
smtp://apikey:«{base62:30}»@smtp.acme.io:587
ftp://svc:«{base62:12}»@ftp.acme.io
git clone https://oauth2:«{base62:20}»@gitlab.acme.io/a.git
{{"user": "svc", "pass": "«{base62:16}»"}}
smtp_pass: «{base62:16}»
DB_PWD=«{base62:16}»
password: «{base62:5}!{base62:5}#{base62:3}»
password = "«{base62:5}@{base62:5}&{base62:3}»"
password='«{base62:5}${base62:5}=(x){base62:3}»'
passwd: «{base62:20}»  # rotate
auth_token = '«{hex:40}»'
access_token="«{hex:64}»"
encryption_key: «{hex:64}»
cookie_secret = "«{hex:32}»"
Authorization: Bearer «{base62:40}»
"Authorization": "Bearer «{hex:40}»"
Authorization: ApiKey «{base64:56}==»
headers = {{"Authorization": f"token «{base62:40}»"}}
api-key: «{base62:32}»
"apiKey":"«{base62:32}»"
apikey=«{hex:32}»
https://a.io/v1?api_key=«{hex:32}»&x=1
https://a.io/v1?token=«{base62:32}»
client_secret=«{word:32}»&grant_type=x
"clientSecret": "«{word:40}»"
token: "«{base62:32}»"
private_key = "«{hex:64}»"
"name": "DB_PASSWORD", "value": "«{base62:16}»"
stringData:\n  password: «{base62:16}»
`api_key`: `«{base62:32}»`
password := "«{base62:14}»"
PASSWORD="«{base62:14}»" ./run
PGPASSWORD=«{base62:14}» psql -h db
sshpass -p «{base62:14}» ssh a
redis-cli -h a -a «{base62:20}»
mysql -u root -p«{base62:14}» app
docker login -u a -p «{base62:20}» r.io
svc:«{base62:14}»@tcp(db:3306)/app
password: «hunter22»
- name: API_TOKEN\n  value: "«{base62:32}»"
password: «{base62:14}#{base62:6}»
«-----BEGIN RSA PRIVATE KEY-----\nMIIEpQIBAAKCAQEA{base64:48}\n{base64:64}\n{base64:64}\n-----END RSA PRIVATE KEY-----»
("password", "«{base62:40}»"), ("user", "{hex:40}")
("client_secret", "«{hex:40}»"), ("client_id", "{hex:40}")
psk: «+{base62:14}»
/run/secrets/db_password: «{base62:16}»
auth_key: "«{base62:40}»"
password: "«{base62:7}-user{base62:7}»"
login("ops", password="«{base62:8}({base62:6})»")
Benutzer wartung, Kennwort «{base62:14}» – bitte nicht weitergeben
Das Passwort für srv-01.acme.io lautet jetzt «{base62:14}»
логин admin, пароль «{base62:6}_{base62:6}» , зайди
Cambié la contraseña de root en 10.1.2.3: ahora es `«{base62:14}»`.
wachtwoord «{base62:12}» graag niet delen
şifresi «{base62:12}» oldu
パスワード（本番）：«{base62:12}»
パスワードは `«{base62:5}_{base62:6}_{base62:4}»` です
비밀번호는 `«{base62:14}»` 입니다
the password for root on db-01.acme.io is now «{base62:14}»
new password for 10.0.0.4 -> «{base62:14}»
router: user admin, password «{base62:14}» for now
recovery phrase (the paper is in the safe):\n\n   «{lit:identify acquire cereal earth goddess lazy nose puzzle share three unveil wreck}»
{{"wif": "«L{bitcoin:51}»"}}
nsec = "«nsec1{bech32:58}»"
<Password><Value>«{base62:14}»</Value><PlainText>true</PlainText></Password>
<Pass encoding="base64">«{base64:20}»</Pass>
<Password encrypted="false">«{base62:14}»</Password>
<wsse:Password Type="http://docs.acme.io/wss#PasswordText">«{base62:7}!{base62:6}»</wsse:Password>
smtpLogin :: (UserName, Password)\nsmtpLogin = ("robot@acme.io", "«{base62:14}»")
PayPal::LiveEnvironment.new('A{word:79}', '«E{word:79}»')
curl -u "ops@acme.io/token:«{base62:40}»" https://acme.io
Name splunk\n    Splunk_Token «{uuid}»
transport: postmark\n  server_token: «{uuid}»
user: 'ops',\n  key: '«{base62:20}»',\n  services: [['browserstack', {{}}]]
https://a.logic.azure.com/workflows/x/invoke?sp=%2Ftriggers&sv=1.0&sig=«{word:43}»
"""

LEFT_ALONE: Final = r"""
password: "user1-123"
derived_key: "{hex:40}"
password = "Tr0ub4dor&3"
--github-token=1122334455667788990011223344556677889900
# root password: rootF00barbaz
foo:pass:1000:1000::/home/foo1:/bin/sh
https://a.io/v1?skipToken={base62:32}
password="s3kr3t"
password => "hunter42"
password: "chang3m3N#w"
"userPassword: hello123"
passphrase: <a href="Chapter8.html#S8.1">Section 8.1</a>
words\n{lit:abandon ability able about above absent absorb abstract absurd abuse access accident}
`-----BEGIN RSA PRIVATE KEY-----MIIEpQIBAAKCAQEA{base64:48}.-----END RSA PRIVATE KEY-----`
('password', '{hex:40}'),\n(UPASS, '{hex:40}'),
("password", "{hex:16}", 1000, "{hex:16}"),
/etc/passwd: {hex:32}
should_pass("WinDLL('./_sqlite3.dll')")
credentials.get("snmpV2cWrite")
auth_key_management: ["SUITE-B-192"]
pw.println("MatchType=[" + kind)
priority = "NORMAL:+ECDHE-PSK:+PSK:+VERS-TLS1.3:+CIPHER-ALL"
ciphers = "ALL:!aNULL:!PSK:!RC4:!ADH:!LOW@STRENGTH"
fakeToken = "{base62:32}"
dummy_password = "_web_form_{hex:12}"
define("PRIVATEKEY_AUTH_MAGIC", "openssh-key-v1")
password: "0x{hex:32}"
GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568
passKeys:!1!==t.passKeys,passNode:t.passNode||!1,schema:1
path = os.getenv("EXPORT_SECRET_PATH") or "/api/public/otel/v1/traces"
Pass `-Dpamconfdir=no` to meson
set_property(PASS_REGULAR_EXPRESSION "pass;Passed")
password-protected: ECMA-376 Extensible
token = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A{base64:120}"
call system(cmd." -u ".s:Escape(fnamemodify(file,":p"),0))
 * @CMD_DEL_KEY: delete a key identified by %NL80211_ATTR_KEY_IDX
#define OBJ_userPassword OBJ_X509,35L
#define xmlSecCryptoAppKeyLoadMemory xmlSecGnuTLSAppKeyLoadMemory
OS_CREDENTIAL_DUMPING_ETC_PASSWORD_AND_ETC_SHADOW: T1003.008
private_key: x25519.X25519PrivateKey
pass_duration: google.protobuf.duration_pb2.Duration
pwd := a.Package.Dir
credentials._private_key_pkcs8_pem = private_key_pkcs8_pem
assert token.endswith(b".c2lnbmF0dXJl")
['X-Auth-Token', 'Access-Control-Allow-Headers', 'Accept']
subprocess.run(args, pass_fds=fds_to_keep)
password = input("Password: ")
password = request.form["password"]
password: str
password: string;
password?: string
token: Token
const token = await getToken();
token = jwt.encode(payload, key)
let secret = generateSecret(32);
secret = crypto.randomBytes(32).toString("hex")
API_KEY=${{API_KEY}}
API_KEY=$API_KEY
API_KEY: ${{{{ secrets.API_KEY }}}}
token: ${{{{ github.token }}}}
password: {{{{ .Values.password }}}}
password: "{{{{ vault_password }}}}"
password: <your password>
password: [REDACTED]
password: ********
password: changeme
password: CHANGE_ME_PLEASE
api_key = "your-api-key-here"
api_key = "YOUR_API_KEY"
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx
SECRET_KEY = "django-insecure-placeholder"
token = os.environ.get("GITHUB_TOKEN", "")
token = process.env.GITHUB_TOKEN!
token := os.Getenv("TOKEN")
password = ENV["DB_PASSWORD"]
password = System.getenv("DB_PASSWORD")
password = env::var("DB_PASSWORD")?;
password = config.database.password
password = "password"
password = "secret"
password = 'admin'
password = ""
password = None
password = null
password: nil
passwordField.placeholder = "Enter your password"
"password": "Password is required"
"forgot_password": "Forgot your password?"
password_confirmation: "Bestätigung"
<input type="password" name="password" placeholder="Passwort">
<label for="password">Password</label>
passwordHash = "$2b$12$abcdefghijklmnopqrstuv"
password_hash: {hex:64}
"sha256": "{hex:64}"
commit {hex:40}
index {hex:7}..{hex:7} 100644
"integrity": "sha512-{base64:86}=="
"resolved": "https://registry.acme.dev/a/-/a-1.0.0.tgz#{hex:40}"
FROM alpine@sha256:{hex:64}
uses: actions/setup-node@{hex:40}
golang.org/x/net v0.1.0 h1:{base64:43}=
checksum = "{hex:64}"
etag: W/"{hex:32}"
id: {uuid}
session_id={uuid}
request-id: {hex:32}
traceparent: 00-{hex:32}-{hex:16}-01
ssh-rsa AAAAB3NzaC1yc2E{base64:200} dev@host
public_key: {base64:43}=
publicKey = "{base64:43}="
recaptcha_site_key: 6L{base62:38}
NEXT_PUBLIC_STRIPE_KEY=pk_live_{base62:24}
"key": "ctrl+shift+p"
key: "cmd+k cmd+s"
{{ "key": "ctrl+k ctrl+s", "command": "workbench.action" }}
<img src="data:image/png;base64,{base64:400}">
sourceMappingURL=data:application/json;base64,{base64:200}
tokens = tokenizer.encode(text)
token_type: bearer
"token_endpoint": "https://a.io/oauth/token"
"max_tokens": 4096
eos_token = "<|endoftext|>"
pad_token: "[PAD]"
csrf_token_name = "csrfmiddlewaretoken"
def test_password_is_hashed():
it("rejects a wrong password", () => {{
test_token_expires_after_30_days
secretName: prod-db-credentials
secretKeyRef:
existingSecret: my-release-postgresql
kind: Secret
aws_secret_access_key = AWS_SECRET
arn:aws:iam::123456789012:role/x
secret = data.aws_secretsmanager_secret_version.db.secret_string
password = random_password.db.result
password = aws_ssm_parameter.db_password.value
- "PASSWORD=${{DB_PASSWORD:-}}"
echo "$PASSWORD" | docker login --password-stdin
mysql -u root -p$MYSQL_PWD
read -s -p "Password: " password
sk-your-key-here
sk-...
ghp_...
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
AKIAXXXXXXXXXXXXXXXX
AKIAIOSFODNN7EXAMPLE
wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
xoxb-000000000000-000000000000-xxxxxxxxxxxxxxxxxxxxxxxx
https://user:password@example.com/
https://user:pass@host/path
postgres://postgres:postgres@localhost:5432/app
mongodb://localhost:27017/app
redis://:password@localhost:6379
amqp://guest:guest@localhost:5672
http://localhost:3000/@fs/app
https://medium.com/@user:post
const re = /sk_live_[0-9a-zA-Z]{{24}}/
pattern: "AKIA[0-9A-Z]{{16}}"
"scopes": ["read:user", "token:write"]
color: #a1b2c3d4
disk-encryptionconfigurationmanager
task-abcdefghijklmnopqrstuvwx
risk-assessment-framework-configuration
password = getpass()
with open("secrets.json") as f:
PASSWORD_MIN_LENGTH = 12
token_ttl = 3600
access_token_expires_in: 86400
secret_rotation_days = 90
"tokenizer_class": "PreTrainedTokenizerFast"
keyboard: "us-intl"
monkeypatch.setenv("API_KEY", "test")
api_key="test-key-123"
password="test1234"
"Content-Security-Policy": "script-src 'nonce-{base62:22}'"
xmlns:x="http://schemas.x.org/token"
author: Jane Doe <jane@acme.io>
Author: {hex:40}
key = hashlib.sha256(data).hexdigest()
cache_key = f"user:{{user_id}}:v2"
i18n: {{ password: "Passwort", token: "Zugangsschlüssel" }}
password: "Mot de passe oublié"
"token": "string"
token: {{ type: String, required: true }}
@Column(name = "password_hash", length = 60)
api_key: str = Field(default="", env="API_KEY")
apiKey: import.meta.env.VITE_API_KEY,
credentials: "include"
credentials: 'same-origin'
credential_source = Ec2InstanceMetadata
secret: false
secret: true
SECRET_BACKEND=airflow.providers.hashicorp.secrets.vault.VaultBackend
password_encryption = scram-sha-256
token: abc
0x{hex:40}
Bearer realm="api"
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${{process.env.TOKEN}}
authorization: Basic {{{{credentials}}}}
Kennwort vergessen? Hier klicken
Das Passwort steht in `/etc/App1/secret`
La contraseña se guarda en `config.yaml1`
пароль администратора2 изменён
パスワードは `DB_PASSWORD_V2` に
password on db-01.acme.io is required
password for the user of 2.4 is PBKDF2
"database_password": "EJ[1:{base64:43}=:{base64:32}:{base64:60}==]"
<label for="password" class="x">Password1</label>
<wsse:Password Type="http://x#PasswordDigest">{base64:27}=</wsse:Password>
<Password><Value>%ADMIN_PASSWORD%</Value></Password>
<Pass encoding="crypt" pubkey="x">{base64:40}</Pass>
login :: (UserName, Password)\nlogin = ("user", "password")
new HttpClient('https://api.acme.io/v1/users', 'application/vnd.acme+json')
transport: postmark\n  message_id: {uuid}
npub1{bech32:58}
mnemonic: {lit:test test test test test test test test test test test junk}
pixels = [151, 253, 108, 36, 117, 204, 148, 137, 186, 87, 228, 154]
"""
