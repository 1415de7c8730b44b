"""Credentials as vendors give them out, in the settings in which they are pasted, and what only looks like one there.

``{base62:16}`` stands for so many made-up characters, and « » mark the secret.
"""

from __future__ import annotations

from typing import Final

PASTED: Final = r"""
SLACK_SIGNING_SECRET=«{hex:32}»
TWILIO_AUTH_TOKEN=«{hex:32}»
STRIPE_SECRET_KEY="«sk_live_51{base62:99}»"
SUPABASE_SECRET_KEY=«sb_secret_{word:22}_{word:8}»
CLERK_SECRET_KEY=«sk_live_{base62:42}»
RESEND_API_KEY=«re_{base62:8}_{base62:24}»
PINECONE_API_KEY=«pcsk_{base62:5}_{base62:63}»
NVIDIA_API_KEY=«nvapi-{word:64}»
DEEPSEEK_API_KEY=«sk-{hex:32}»
ELEVENLABS_API_KEY=«sk_{hex:48}»
TAVILY_API_KEY=«tvly-dev-{base62:32}»
FIRECRAWL_API_KEY=«fc-{hex:32}»
JWT_SECRET='«{base64:43}=»'
SESSION_SECRET=«{base62:40}»
DB_PASSWORD="«{base62:5}#{base62:6}!»"
MAILCHIMP_API_KEY=«{hex:32}-us21»
HONEYCOMB_API_KEY=«hcaik_01{lower:56}»
CLOUDFLARE_API_TOKEN=«{word:40}»
VERCEL_TOKEN=«{base62:24}»
AUTH0_CLIENT_SECRET=«{word:64}»
MONGODB_URI=mongodb+srv://svc:«{base62:18}»@cluster0.k3x9q.mongodb.net/prod?retryWrites=true
DATABASE_URL="postgresql://neondb_owner:«npg_{base62:12}»@ep-cool-sun-123456.eu-central-1.aws.neon.tech/neondb?sslmode=require"
REDIS_URL=rediss://default:«{base62:36}»@eu1-mighty-fox-41234.upstash.io:6379
datadog:\n  apiKey: «{hex:32}»
spring:\n  datasource:\n    password: «{base62:6}@{base62:7}»
slack:\n  bot_token: «xoxb-{digit:12}-{digit:13}-{base62:24}»
smtp:\n  user: apikey\n  pass: «SG.{word:22}.{word:43}»
  opsgenie_api_key: «{uuid}»
api_url: '«https://hooks.slack.com/services/T{upper:10}/B{upper:10}/{base62:24}»'
{{"secret_access_key": "«{base64:40}»"}}
  "clientSecret": "«{base62:3}8Q~{word:34}»",
{{"discord": {{"token": "«MTA{base62:23}.G{base62:5}.{word:38}»"}}}}
"refresh_token": "«1//0{word:90}»"
"AccountKey": "«{base64:86}==»"
"token": "«ATATT3xFfGF0{word:160}={upperhex:8}»"
export GITHUB_TOKEN=«ghs_{crc62:36}»
export GITLAB_TOKEN="«glptt-{hex:40}»"
export ANTHROPIC_API_KEY=«sk-ant-admin01-{word:93}AA»
export OPENAI_API_KEY="«sk-svcacct-{word:74}T3BlbkFJ{word:74}»"
export HF_TOKEN=«hf_{alpha:34}»
export LINODE_CLI_TOKEN=«{hex:64}»
export HCLOUD_TOKEN='«{base62:64}»'
SENTRY_AUTH_TOKEN=«sntryu_{hex:64}» sentry-cli releases new 1.2
PGPASSWORD='«{base62:16}»' psql -h db.prod.acme.io -U app
mysql -h db.prod -u root -p'«{base62:9}!{base62:4}»' app
FLY_API_TOKEN="FlyV1 «fm2_{base64:200}»" flyctl deploy
curl -H "Authorization: Bearer «sk-or-v1-{hex:64}»" https://openrouter.ai/api/v1/models
curl -H 'X-Figma-Token: «figd_{word:40}»' https://api.figma.com/v1/me
curl -H 'PRIVATE-TOKEN: «glpat-{word:20}»' https://gitlab.acme.io/api/v4/user
curl -H "xc-api-key: «{base62:40}»" https://app.nocodb.com/api
curl -u 'api:«{hex:32}-{hex:8}-{hex:8}»' https://api.mailgun.net/v3/domains
curl -H "Authorization: SSWS «00{word:40}»" https://acme.okta.com/api/v1/users
curl -H 'Authorization: Token token=«{base62:20}»' https://api.pagerduty.com/incidents
curl "https://maps.googleapis.com/maps/api/geocode/json?address=x&key=«AIza{word:35}»"
provider "digitalocean" {{\n  token = "«dop_v1_{hex:64}»"\n}}
provider "cloudflare" {{\n  api_key = "«{hex:37}»"\n}}
resource "aws_db_instance" "main" {{\n  username = "app"\n  password = "«{base62:20}»"\n}}
variable "snowflake_password" {{\n  default = "«{base62:10}!{base62:5}»"\n}}
credentials "app.terraform.io" {{\n  token = "«{base62:14}.atlasv1.{base62:67}»"\n}}
apiVersion: v1\nkind: Secret\nstringData:\n  api-token: «{base62:40}»
kind: Secret\ndata:\n  password: «{base64:24}»
      - name: STRIPE_KEY\n        value: «rk_live_{base62:24}»
      - name: DB_PASSWORD\n        value: "«{base62:22}»"
services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: «{base62:20}»
    environment:\n      - SECRET_KEY_BASE=«{hex:128}»
    environment:\n      - MINIO_ROOT_PASSWORD=«{base62:24}»
    "openai.api_key = \"«sk-{base62:20}T3BlbkFJ{base62:20}»\"\n",
    "os.environ['REPLICATE_API_TOKEN'] = '«r8_{base62:37}»'\n"
    "client = Groq(api_key='«gsk_{base62:52}»')\n",
//registry.npmjs.org/:_authToken=«npm_{crc62:36}»
//npm.acme.io/:_auth=«{b64pair:36}»
//artifactory.acme.io/api/npm/npm/:_password="«{base64:24}»"
//npm.pkg.github.com/:_authToken=«ghp_{crc62:36}»
[pypi]\nusername = __token__\npassword = «pypi-AgEIcHlwaS5vcmc{word:150}»
[acme]\nrepository = https://pypi.acme.io\nusername = ci\npassword = «{base62:18}»
machine api.heroku.com\n  login ci@acme.io\n  password «{uuid}»
machine git.acme.io login ci password «{base62:24}»
git remote add origin https://x-access-token:«ghs_{crc62:36}»@github.com/acme/app.git
url = https://oauth2:«glpat-{word:20}»@gitlab.com/acme/app.git
git clone https://ci:«ATBB{base62:28}{upperhex:8}»@bitbucket.org/acme/app.git
users:\n- name: admin\n  user:\n    client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ{base64:400}»
  user:\n    token: «{base62:64}»
Server=tcp:acme.database.windows.net,1433;User ID=app;Password=«{base62:9}!{base62:6}»;Encrypt=True;
DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«{base64:86}==»;EndpointSuffix=core.windows.net
Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«{base64:43}=»
amqps://app:«{base62:32}»@b-1234.mq.eu-west-1.amazonaws.com:5671
clickhouse://default:«{base62:14}»@abc123.eu-west-1.aws.clickhouse.cloud:8443/default
        env:\n          NPM_TOKEN: «npm_{crc62:36}»
      - run: docker login -u acme -p «dckr_pat_{word:27}»
          AWS_SECRET_ACCESS_KEY: «{base64:40}»
gh secret set API_TOKEN --body "«{base62:40}»"
az login --service-principal -u app --password «{base62:3}7Q~{word:34}» --tenant t
vault login «hvs.{word:95}»
doppler run --token «dp.st.prd.{base62:43}» -- npm start
helm upgrade app . --set postgresql.auth.password=«{base62:20}»
twine upload -u __token__ -p «pypi-AgEIcHlwaS5vcmc{word:150}» dist/*
sqlcmd -S db.acme.io -U sa -P «{base62:10}!{base62:4}»
aws configure set aws_secret_access_key «{base64:40}»
fly secrets set SECRET_KEY_BASE=«{base62:64}»
wrangler secret put X <<< "«v1.0-{hex:24}-{hex:146}»"
tailscale up --authkey=«tskey-auth-k{base62:16}-{base62:32}»
ngrok config add-authtoken «2{base62:26}_{base62:21}»
const client = new Twilio('AC{hex:32}', '«{hex:32}»');
SECRET_KEY = '«django-insecure-{base62:50}»'
app.config["SECRET_KEY"] = b"«{base62:32}»"
opts.SetPassword("«{base62:16}»")
plaid_secret = "«{hex:30}»"
private const string ApiKey = "«SG.{word:22}.{word:43}»";
op_token = "«ops_eyJ{base64:300}»"
AGE_KEY=«AGE-SECRET-KEY-1{bech:58}»
curl "https://api.openweathermap.org/data/2.5/weather?q=Bern&appid=«{hex:32}»"
rclone config create s3 s3 env_auth false secret_access_key «{base64:40}»
//registry.acme.io/:_auth=«{b64pair:30}»
wrangler secret put API_TOKEN <<< "«{base62:40}»"
echo "«{base62:32}»" | docker login -u ci --password-stdin registry.acme.io
printf '%s' «{base62:40}» | gh secret set DEPLOY_TOKEN
Cookie: session=«eyJ1c2VyIjox{base62:40}.{base62:6}.{base62:27}»; path=/
APP_KEY=«base64:{base64:43}=»
GITHUB_CLIENT_ID = {hex:20}\nGITHUB_CLIENT_SECRET = «{hex:40}»
SECURITY_SALT = {hex:32}\nSESSION_SECRET = «{hex:64}»
[session]\nsalt = {hex:32}\nsecret = «{hex:64}»
useradd -m -p «{base62:14}» deploy
usermod -p '«{base62:14}»' deploy
chpasswd <<< "deploy:«{base62:14}»"
chpasswd <<EOF\ndeploy:«{base62:14}»\nEOF
(echo '«{base62:14}»'; echo again) | passwd deploy
密码：«{base62:14}»
管理员密码是 «{base62:14}»
数据库密码为：«{base62:14}»，端口：3306
パスワードは「«{base62:14}»」です。
비밀번호는 «{base62:14}» 입니다
Passwort für den Server lautet: «{base62:14}»
contraseña: «{base62:14}»
La contraseña del servidor es «{base62:14}»
le mot de passe de la base de données est «{base62:14}»
Mot de passe : «{base62:14}»
Пароль администратора: «{base62:14}»
A senha é «{base62:14}»
Şifre: «{base62:14}»
访问令牌：«{base62:40}»
Password：«{base62:14}»
Password: **«{base62:14}»**
| password | «{base62:14}» |
| user | password |\n|---|---|\n| admin | «{base62:14}» |
+------+----------+\n| user | password |\n+------+----------+\n| app  | «{base62:14}» |
db_password,«{base62:14}»
name,url,username,password\nwiki,https://wiki.acme.io,ops,«{base62:14}»
"Title","Username","Password"\n"Mail, main","ops","«{base62:14}»"
id,name,api_key\n1,acme,«{base62:40}»
Cookie: theme=dark; session=«{base62:40}»
curl -b 'lang=en; sid=«{base62:40}»' https://acme.io
ProxyPassword «{base62:14}»
curl -u 'ops:«{base62:6}@{base62:6}»' https://acme.io
--from-literal=password='«{base62:4}%s!{base62:4}#»'
"""

LOOK_ALIKE: Final = r"""
{hex:64} *dist/app.whl
"resolved": "https://registry.acme.io/a/-/a-1.0.0.tgz#{hex:40}"
"integrity": "sha512-{base64:86}"
    sha256: {hex:64}
url = "https://files.acme.io/{hex:2}/{hex:2}/{hex:60}/a-1.0.tar.gz"
hash = "sha256:{hex:64}"
h1:{base64:43}
commit {hex:40}
Merge: {hex:7} {hex:7}
blob {hex:40}
"sha": "{hex:40}",
FROM node:20@sha256:{hex:64}
rev: {hex:40}
ETag: "{hex:32}-12"
traceparent: 00-{hex:32}-{hex:16}-01
X-Request-Id: {uuid}
correlation_id={uuid}
subscriptionId: {uuid}
"objectId": "{hex:24}"
vpc-{hex:17}
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-{base62:6}
kms_key_id = "arn:aws:kms:eu-west-1:123456789012:key/{uuid}"
AWS_ACCOUNT_ID=123456789012
google_analytics: G-{upper:10}
UA-136142416-1
pk_live_{base62:24}
NEXT_PUBLIC_STRIPE_KEY=pk_test_{base62:24}
RECAPTCHA_SITE_KEY=6L{base62:38}
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{base64:267} ci@acme
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base64:43} a@b
-----BEGIN PUBLIC KEY-----\n{base64:64}\n{base64:64}\n-----END PUBLIC KEY-----
-----BEGIN CERTIFICATE-----\n{base64:64}\n{base64:64}\n-----END CERTIFICATE-----
ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tC{base64:200}
known_hosts: |1|{base64:27}|{base64:27} ssh-rsa AAAA{base64:80}
data:image/png;base64,iVBORw0KGgo{base64:400}
src: url(data:font/woff2;base64,d09GMgAB{base64:267})
!function(e,t){{n={{{hex:3}:'{base62:9}'}}}}(window)
//# sourceMappingURL=app.{hex:20}.js.map
{{"names":["token","_this$props2","password","_e12","apiKey","onSubmit$1"]}}
["secretAccessKey","_ref3$config","token","getBoundingClientRect2","x"]
API_KEY=your-api-key-here
API_KEY=<YOUR_API_KEY>
API_KEY=xxxxxxxxxxxxxxxxxxxx
api_key: ${{API_KEY}}
password: {{{{ vault_db_password }}}}
token: $(cat /run/secrets/token)
SECRET_KEY=changeme-please-1234
password = os.environ['DB_PASSWORD']
token = "REPLACE_ME_WITH_TOKEN_1"
api_key=%API_KEY%
PASSWORD=********
apiKey: process.env.API_KEY!
client_secret: 'insert-client-secret-1'
password: !vault |
token: ENC[AES256_GCM,data:abc]
secret: op://vault/item/field1
key: vault:secret/data/app#key1
assert pem.startswith("-----BEGIN RSA PRIVATE KEY-----")\n\n\ndef test_encrypts_with_passphrase_{hex:2}(client):\n    pass
lastPasswordChange: 2026-03-04T05:06:07.000Z
"passwordChangedAt": "2026-01-02T03:04:05Z"
token_cache_key = '{hex:40}'
secret_uuid = "{uuid}"
client.credentials.retrieve("{uuid}")
contract_token: 0x{hex:40}
id_token = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9"
token: "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."
  rate_limits: {{"reset_password": "20/m/ip,5/m/key"}}
password: cGFzc3dvcmQxMjM=
secret: Y2hhbmdlbWUtc2VjcmV0
authorizationToken: 'QVdTOjEyMzQ1Njc4OTAxMi1hdXRoLXRva2Vu'
pass_attr.o: check_args.h
mod_passwd.c: Bug#4138
ops.set_encrypt_key = _aes_set_encrypt_key_x86;
resourceInputs.masterAuth = state?.masterAuth;
def derive(passphrase: BytesOrStr, salt: bytes)
if (pw->passwd_len == UINT8_MAX)
PASSWORD_HASH='*{upperhex:40}'
kvm -net nic -net user -redir tcp:2222::22
scp -P 2222 build.tgz ci@host:
mkdir -p a/b1/c2 && cp -p x.tgz y
passwd_exe_guid="{uuid}"
private_key="pkcs11:token=Acme%20HSM%20One;object=k1"
smtp://user:p%40ss@mail.test:25
href: https://user:%F0%9F%92%A9@foo/bar
dsn: mysql://user:pass@localhost:3306/test?user=ci@acme
values = ["smtp.password", "smtp.subject2", "smtp.x"]
f"pw_{{uuid.uuid4().hex[:8]}}"
user_password = f"pw_{{uuid.uuid4().hex[:8]}}"
TokenReview: ['authentication.k8s.io/v1beta1', 'x']
default password time-to-live in seconds
test_password_scheme("SCRAM-SHA-256", x)
wget --password-file=/etc/app/pw1 'baz@acme'
ldapdelete -D "$DN" -w $PASSWD "ou=$unit1,$BASE"
# Test 1\nSecret = {hex:64}\nCounterKey = {hex:80}\nK = {hex:64}
Salt = {hex:26}\nPrivateKey = 0x{hex:48}\nLabel = {hex:24}\nOutput = {hex:40}
Privkey = {hex:64}\nPubkey  = {hex:64}\nMsg =\nSignature = {hex:128}
Password = {hex:16}\nPasshash = $2a$05${base62:53}
"password": "pass\u0000word",
passphrase = b"foo\x00bar"
setPassword("abc\u5639\u563b")
passphrase="verschl\u00FCsselt"
#define LM_PASSWORD_MAGIC "\x4B\x47\x53\x21"
identity_pass_phrase('rsa-sha2-256') -> rsa_pass_phrase;
decode("key.pem", "password", "DES-EDE3-CBC", Config)
("token_blacklist", "0007_auto_20171017_2214"),
("token_blacklist", "0001_initial"),
"https://deno.land/x/jose@v4.15.4/key/generate_secret.ts": "{hex:64}",
('UnicodePwdLength','_-UnicodePwd','self["UnicodePwdLength"]'),
('LmPassword', '16s=b""'),
self._pwd = 'C:\\windows\\system32'
ResetPassword = "00299570-246d-11d0-a768-00aa006e0529"
PASSWORD_ADMINISTRATOR = "{uuid}"
muted_pass_color = "#03fccf"
password_md4 = "{hex:32}"
expectedSharedSecret = "{upperhex:64}"
htpasswd: ana:$apr1${base62:8}${base62:22}
?UINT32(Sz1), OldBinPwd:Sz1/binary,
expr "X`/bin/pwd || pwd`" : "X/afs/.*" > /dev/null
docker run --volume `pwd`:/rocksdb-host:ro image
host= user= password= log_file_name= ssl_key=
Setting this makes it pass "attr_timeout=0" to the kernel
# /etc/passwd: mysql:x:100:101:MariaDB Server:/nonexistent:/bin/false
base_port=1;gmcast.listen_addr=tcp://[::]:@mysqld.1.port;ist.recv_addr=[::1]:@x
create user a@localhost identified by password '{hex:16}';
hmset user/admin password '\$5\${hex:16}\${hex:64}'
MKDIR_P = /bin/mkdir -p\nMYSQL_CFLAGS =
passwordVisible: _$vue.Ref<boolean, boolean>;
data-post="{{&quot;csrfmiddlewaretoken&quot;: &quot;{base62:32}&quot;}}"
echo $TOKEN | docker login -u ci --password-stdin
echo {base62:40} | base64 --decode
grep -q needle <<< {base62:40}
"PASS": '\x1b[0;32m',
'password': '[0-9a-zA-Z]{{1,12}}',
FINGER_SHA256_ED25519_PASS = "{base64:43}"
password.py,sha256={base64:43},1024
pkg/token.py,sha256={word:43},5206
user, password,\n    salt_16, Xy12_part,
| password | string | required |
| Name | Token |\n|---|---|\n| plus | T_PLUS |
token | base64 -d
name,password\nadmin,changeme
name,password_hash\nadmin,{hex:64}
密码不能为空
密码：请输入
"password": "请输入密码",
contraseña: obligatoria
le mot de passe est obligatoire
Пароль должен содержать 8 символов
Cookie: theme={base62:40}; lang=en
ProxyPassword required
password is Base64 encoded
useradd -m -p "$(openssl passwd -6 x)" deploy
"""
