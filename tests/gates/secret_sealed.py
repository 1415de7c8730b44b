"""What is no credential in files that hold credentials in an encrypted form, in documents of vendors and in reports.

``{base62:16}`` stands for so many made-up characters. Samples that vendors print are put together when the tests run.
"""

from __future__ import annotations

from typing import Final

SEALED: Final = r"""
encryptionsalt: v1:{base64:8}pwdUlPjA=:v1:{base64:16}:{base64:70}==\nconfig:\n  app:region: x
config:\n  app:dbPassword:\n    secure: v1:{base64:16}:{base64:60}
dbPassword: v1:{base64:16}:{base64:60}
secret_token: "{base64:80}--{base64:16}--{base64:22}=="
db_password: gAAAAAB{word:120}==
secret = b"gAAAAABl{word:112}=="
password: eyJpdiI6I{base64:160}
API_TOKEN="AQECAH{base64:160}"
API_TOKEN="AQICAH{base64:160}"
API_KEY: CiQA{base64:100}
encrypted: yes\npassword: CiB{base64:200}
$password = '01000000d08c9ddf0115d1118c7a00c04fc297eb{hex:200}'
password 51:b:01000000D08C9DDF0115D1118C7A00C04FC297EB{upperhex:200}
<add key="Password" value="AQAAANCMnd8BFdERjHoAwE/Cl+sBAAAA{base64:120}" />
<Password encrypted="true">AQAAANCMnd8BFdERjHoAwE/Cl+sBAAAA{base64:120}</Password>
<private-key>-AQ=={base64:120}</private-key>
'password' => '0:3:{base64:64}',
"password":"2.{base64:22}==|{base64:42}==|{base64:43}="
password="MASK-{base62:12}"
secret: wcFMA{base64:300}
password: CRYPT:{base62:13}
password: cipher-kms-aes-256:{base64:40}
<password>{{AQAAABAAAAAQ{base64:43}=}}</password>
<password>{{{base64:43}=}}</password>
password: "{{cipher}}{hex:96}"
spring.datasource.password=ENC({base64:40})
db.password=![{base64:43}=]
profile::password: ENC[PKCS7,{base64:300}]
DB_PASSWORD="encrypted:{base64:120}"
api_token: !vault |\n  $ANSIBLE_VAULT;1.2;AES256;prod\n  {hex:80}\n  {hex:80}
deploy:\n  api_key:\n    secure: "{base64:171}="
"password": {{\n  "encrypted_data": "{base64:64}",\n  "cipher": "aes-256-cbc" }}
"db_password": "EJ[1:{base64:43}=:{base64:32}:{base64:50}==]"
curl https://api.stripe.com/v1/charges -u sk_test_{lit:4eC39HqLyj}{lit:WDarjtzdp7dc}:
stripe.api_key = "sk_test_{lit:tR3PYbcVNZ}{lit:Z796tH88S4VQ2u}"
token={lit:gIkuvaNzQI}{lit:Hg97ATvDxqgjtO}
client_secret={lit:JqQX2PNo9b}{lit:pM0uEihUPzyrh}
curl --header "PRIVATE-TOKEN: {lit:9koXpg98e}{lit:AheJpvBs5tK}" https://gitlab.acme.io/api/v4/projects
consumer_secret: "{lit:kAcSOqF21F}{lit:u85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw}"
TOKEN = "110201543:{lit:AAHdqTcvCH}{lit:1vGWJxfSeofSAs0K5PALDsaw}"
kubeadm join --token {lit:07401b.f3}{lit:95accd246ae52d} 10.0.0.1:6443
"client_secret": "{lit:cf136dc3c1}{lit:fc93f31185e5885805d}"
const expected = "SharedKey acmestorage:{base64:43}="
docsearch({{ appId: 'X185E15FPG', apiKey: '{hex:32}', indexName: 'acme' }})
const rsaPrivKeyID = "{hex:64}"
"WrappingKeyIdentifier",\n        "As2805KeyVariant"
PASS: gas/i386/align-branch-1a\nPASS: gas/i386/align-branch-1b\nFAIL: gas/i386/pr19498
PASS: gdb.dwarf2/dw2-inline-small-func3.exp: info breakpoints
	pw: pkgbits.NewPkgEncoder(base.Debug.SyncFrames),
PASS: tests/common-3a7\n=====================\nTestsuite summary
	HWTypeProteonTokenRing\n	HWTypeMILSTD188220\n	HWTypeMetricom
	call	_aesni_set_encrypt_key\n	jnz	.L117dec_key_ret
| DBName | app_dbname |\n| DBPassword | app_dbpassword |\n| DBTLSCipher13 | app_dbtlscipher13 |
    private_key: ec.EllipticCurvePrivateKey\n    | MLKEM768X25519PrivateKey\n    | MLKEM1024P384PrivateKey,\n    info: bytes
'REFERER', 'USERPWD', 'HTTP200ALIASES', 'FILE',
const float pass_frequency = 15915.6f;
* build: pass '-{{ld,gc}}flags' to the compiler
any data you pass to `useStyles(data)`. You can pass props
Now, all the tests pass on Linux/x86_64.
(print_operand): Pass true to ix86_force_load_from_GOT_p
--rpc-passwd=SENHA    Define senha JSON-RPC/XML-RPC.
PASS: MARC21/XML record without a field
MYSQL_USER=root MYSQL_PASSWORD= FILTER=integration npm test
ac_pwd='/proj/rd/eric/pyds9/xpa'
my $userpass = '\G(?:([*()a-zA-Z0-9$+-]*)(?::([*()a-zA-Z0-9$+-]*))\@)?';
with password \f[C]1234Ab\f[R] will have
Authorization: Basic {lit:dXNlcjI6}{lit:cGFzc3dkMg==}
redis://alice:qwerty123@10.1.2.3:6380/
ENCRYPTION_KEY_S3 = b'MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI='
"""

NEARLY_SEALED: Final = r"""
dbPassword: «v1:{base62:14}:{base62:20}»
X-Auth-Token: «gAAAAAB{word:120}»
Cookie: laravel_session=«eyJpdiI6I{base62:160}»
encryption_password: "«2.{base62:30}»"
password: «MASK{base62:10}»
PASS: «{base62:14}»
USER: ops\nPASS: «{base62:14}»\nHOST: db
the pass is «{base62:6}#{base62:6}4a»
changed the password to «{base62:6}#{base62:6}4aB»
user	password\nops	«{base62:10}4aB»
	user	password\n0	ops	«{base62:10}4aB»
| user | password |\n|---|---|\n| ops | «{base62:10}4aB» |
VAPID_PRIVATE = "«--{base62:41}»"
apiKey: '«{hex:32}»', indexName: 'acme'
MYSQL_PASSWORD=«{base62:16}» FILTER=integration npm test
db.acme.io:5432:app:svc:«{base62:18}»
"PrivateKey": "«MIIEvAIBADANBgkqhkiG9w0BAQEFAASC{base64:400}»"
echo '«{base62:14}»' | gpg --batch --passphrase-fd 0 -c x
"""
