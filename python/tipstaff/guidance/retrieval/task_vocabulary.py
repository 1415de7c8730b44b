"""What is known of the words of tasks: which mean the same, which say little, and what kind of work they ask for.

Data alone. `tools/write_query_lexicon.py` packs it into ``query_lexicon.bin``, which the kernels read; `KINDS` and the
second column of `FIELDS` are read at run time.
"""

from __future__ import annotations

import re
from typing import Final

SAME: Final = {
    "pr": "pull request; pull requests; merge request; merge requests; prs; mr",
    "ci": "continuous integration",
    "repo": "repository; repositories; repos",
    "dep": "dependency; dependencies; deps",
    "env": "environment; environments; envs",
    "auth": "authentication; authenticate; authenticated",
    "authz": "authorization; authorize; authorisation",
    "config": "configuration; configurations; configure; configurable; configs",
    "setting": "settings",
    "doc": "documentation; docs; document; documents; documented",
    "i18n": (
        "internationalization; internationalisation; localization; localisation; l10n; "
        "translation; translations; translate; translated; locale; locales"
    ),
    "a11y": "accessibility; accessible",
    "app": "application; applications; apps",
    "db": "database; databases",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "go": "golang",
    "param": "parameter; parameters; params",
    "arg": "argument; arguments; args",
    "dir": "directory; directories; folder; folders",
    "k8s": "kubernetes",
    "ui": "user interface",
    "cli": "command line; terminal",
    "e2e": "end to end",
    "typecheck": "type check; type checks; type checking; type checker; typechecking",
    "lint": "linter; linting; linters",
    "format": "formatter; formatting; formatted; reformat",
    "spec": "specification; specs; specifications",
    "func": "function; functions; method; methods",
    "info": "information",
    "admin": "administrator",
    "perf": "performance",
    "changelog": "change log; release notes; release note; changelogs",
    "changeset": "changesets",
    "image": "images; picture; pictures; photo; photos",
    "uri": "url; urls; link; links",
    "color": "colour; colours; colors",
    "delete": "deletion; remove; removal; removing; removed; drop",
    "error": "exception; exceptions; errors; failure; failures",
    "log": "logging; logs; logged; logger",
    "lib": "library; libraries",
    "package": "packages",
    "async": "asynchronous; concurrency; concurrent; await",
    "node": "node js; nodejs",
    "var": "variable; variables; vars",
    "secret": "secrets; credential; credentials; password; passwords",
    "token": "tokens",
    "regex": "regular expression; regular expressions",
    "msg": "message; messages",
}
"""One word that is counted for several of the same meaning, in tasks and rules alike."""

FIELDS: Final = (
    (
        "test tests tested testing spec e2e unit coverage flaky verify assert playwright vitest jest pytest junit",
        """test unit integration e2e spec mock fixture coverage assert snapshot pytest vitest jest junit playwright
        suite regression""",
    ),
    (
        "fix bug broken crash wrong fails fail failing issue regression fehler corrige arregla バグ 修正",
        "bug fix test regression root cause reproduce issue failing debug",
    ),
    (
        """add new implement create build introduce support feature allow hinzufügen einbauen añade agrega 追加
        実装""",
        "new feature create add implement test doc convention existing pattern",
    ),
    (
        "clean cleanup tidy refactor simplify improve better nicer restructure extract mejora verbessern 改善",
        """style convention naming format lint refactor readability code simple existing pattern clean duplicate
        comment""",
    ),
    (
        "review ready finish finished done complete ship wrap fertig",
        "pr commit test lint format changelog changeset check review branch before complete typecheck",
    ),
    (
        "pr push commit committed branch merge rebase hook squash upstream",
        "git commit pr branch message title push merge rebase conventional hook review description template issue",
    ),
    (
        "publish release ship version deploy staging production rollout tag changelog",
        "release version tag changelog publish deploy staging production build notes changeset bump",
    ),
    (
        "format style prettier lint eslint ruff black rustfmt formatter formatted",
        "format lint style prettier eslint ruff biome fix check hook commit",
    ),
    (
        """document doc docs readme page write explain comment comments guide tutorial explica dokumentation
        ドキュメント comentarios""",
        "doc documentation markdown page comment readme guide example write heading tone",
    ),
    (
        "dependency dep package library install upgrade update lockfile bump abhängigkeit",
        "dep package install version lockfile library import add upgrade manager",
    ),
    (
        "column table migration schema database db query sql model index spalte tabelle columna tabla",
        "migration schema db table column model query sql seed rollback nullable",
    ),
    (
        """button screen page panel badge dialog view component form list layout css style sidebar header mobile ui
        knopf liste 画面 表示 ボタン botón""",
        "component ui css style design responsive layout button screen a11y i18n view mobile",
    ),
    (
        "text label message translation locale i18n language",
        "i18n string label key rtl language text",
    ),
    (
        "error errors exception throw handle unreadable fail failing",
        "error exception handle throw catch log message null optional return",
    ),
    (
        "log logs trace traces print metrics telemetry protokollieren registrar ログ",
        "log logger debug trace pii secret console print level sensitive",
    ),
    (
        "login user signed auth permission owner access admin role session cookie account anmeldung",
        "auth permission security access session user policy role token secret guard",
    ),
    (
        "secret key token password env credential cookie keychain",
        "secret security env credential commit never token keychain",
    ),
    (
        "fetch api endpoint request download url http link reply server response",
        "api request endpoint fetch response http validate schema client url",
    ),
    (
        "load read import file parse fields json 読込",
        "read load file parse validate type schema data",
    ),
    (
        "async parallel wait batches concurrent speed slow performance cache fast cached",
        "async await perf parallel batch chunk cache concurrent sleep timeout query memory",
    ),
    (
        "example demo show sample",
        "example demo sample folder file name show",
    ),
    (
        "script scripts cli command run tool",
        "script command run cli shell tool",
    ),
    (
        "option setting settings config configurable flag",
        "config setting option default env flag prop name",
    ),
    (
        "delete remove drop discard löschen eliminar borrar 削除",
        "delete remove approval ask test deprecate confirm",
    ),
    (
        "rename name call title called",
        "name naming rename title convention kebab case breaking migration deprecate",
    ),
    (
        "ci pipeline workflow action actions build rebuild",
        "ci workflow build check pipeline fail run",
    ),
    (
        "data yaml json catalog",
        "data json yaml file entry",
    ),
)
"""Fields of work: what a task says (matched by meaning), and the words in which rules are about it."""

TRANSLATIONS: Final = {
    "test": "测试 テスト 테스트 prueba pruebas essai essais prüfung тест тесты",
    "doc": "文档 文書 문서 dokumentation doku documentación documentation documentazione документация",
    "commit": "提交 コミット 커밋 коммит",
    "pr": "プルリクエスト 合并请求",
    "branch": "分支 ブランチ 브랜치 zweig rama branche ветка",
    "name": "命名 名称 이름 benennung nombre nombres nom nommage имя",
    "format": "格式 フォーマット 整形 포맷 formatierung formato",
    "lint": "リント 린트",
    "type": "类型 型定義 型チェック 타입 typ typen tipo tipos",
    "component": """组件 コンポーネント 컴포넌트 komponente komponenten componente componentes composant composants
        компонент""",
    "style": "样式 スタイル 스타일 stil estilo estilos",
    "i18n": """国际化 多言語 翻訳 翻译 번역 übersetzung übersetzungen texte traducción traducciones traduction
        traductions""",
    "dep": "依赖 依存 의존성 abhängigkeit abhängigkeiten dependencia dependencias dépendance dépendances зависимости",
    "release": "发布 リリース 배포 veröffentlichung lanzamiento publicación",
    "changelog": "变更日志 更新日志 変更履歴 änderungsprotokoll",
    "log": "日志 ログ 로그 protokoll registro registros journal",
    "error": "错误 异常 エラー 例外 에러 오류 fehler error errores erreur erreurs ошибка ошибки",
    "comment": "注释 コメント 주석 kommentar kommentare comentario comentarios commentaire",
    "security": "安全 セキュリティ 보안 sicherheit seguridad sécurité безопасность",
    "auth": "认证 授权 認証 認可 인증 anmeldung autenticación authentification",
    "secret": "密钥 密码 秘密 機密 パスワード 비밀 geheimnis geheimnisse passwort contraseña secretos",
    "config": "配置 設定 설정 konfiguration einstellungen configuración",
    "env": "环境 環境 환경 umgebung umgebungsvariablen entorno environnement",
    "file": "文件 ファイル 파일 datei dateien archivo archivos fichero fichier fichiers файл файлы",
    "dir": "目录 ディレクトリ フォルダ 디렉터리 ordner verzeichnis carpeta directorio dossier",
    "api": "接口 インターフェース 엔드포인트 schnittstelle schnittstellen",
    "db": "数据库 データベース 데이터베이스 datenbank datos",
    "migration": "迁移 マイグレーション 마이그레이션 migración migrationen",
    "version": "版本 バージョン 버전 versión",
    "review": "审查 レビュー 리뷰 prüfen revisión",
    "import": "导入 インポート 가져오기 importar importe",
    "delete": "删除 削除 삭제 löschen eliminar borrar supprimer",
    "add": "新增 追加 추가 hinzufügen añadir agregar ajouter",
    "fix": "修复 修正 수정 beheben corregir corriger",
    "screen": "画面 页面 ページ 화면 seite seiten página páginas",
    "button": "按钮 ボタン 버튼 schaltfläche botón bouton",
    "a11y": "可访问性 アクセシビリティ 접근성 barrierefreiheit accesibilidad accessibilité",
    "perf": "性能 パフォーマンス 성능 leistung rendimiento",
    "build": "构建 ビルド 빌드 kompilieren compilar",
    "language": "语言 言語 언어 sprache idioma langue язык",
    "example": "示例 例子 サンプル 예시 beispiel beispiele ejemplo ejemplos exemple",
    "title": "标题 タイトル 제목 titel título titre",
    "func": "函数 関数 함수 funktion funktionen función funciones fonction",
    "data": "数据 データ 데이터 daten dato données данные",
    "event": "事件 イベント 이벤트 veranstaltung veranstaltungen termin evento eventos événement",
    "image": "图片 画像 이미지 bild bilder imagen imágenes",
    "code": "代码 コード 코드 código",
}
"""The field's words in other languages, for rules and tasks alike; of scripts without spaces the first two characters
count."""

NEAR: Final = 0.7
"""Cosine from which a word of a task counts for a field."""

KINDS: Final = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"(^|/)(tests?|__tests__|specs?|e2e|playwright|cypress)(/|$)|[._-](test|spec)s?\.|tests?\.\w+$|test_\w+\.py$",
         "test unit integration e2e spec mock fixture assert coverage suite"),
        (r"\.(md|mdx|rst|adoc|txt)$|(^|/)docs?/", "doc documentation markdown page write heading link example"),
        (r"\.(css|scss|less|sass|styl)$|(^|/)styles?/", "css style design token color spacing layout theme rtl"),
        (r"\.(tsx|jsx|vue|svelte|astro)$|\.blade\.php$|(^|/)(components?|views?|pages?|ui)/",
         "component ui react view prop hook style i18n a11y"),
        (r"\.(ts|tsx|mts|cts)$", "ts type interface import lint typecheck"),
        (r"\.(js|mjs|cjs|jsx)$", "js module import lint"),
        (r"\.(py|pyi)$", "py type annotation import ruff pytest"),
        (r"\.rs$", "rust cargo clippy unwrap crate"),
        (r"\.go$", "go gofmt error context"),
        (r"\.java$", "java optional null exception junit"),
        (r"\.kts?$", "kotlin"),
        (r"\.swift$", "swift macos view actor"),
        (r"\.php$", "php laravel type pint"),
        (r"\.(cc|cpp|cxx|h|hpp|mm|m|c)$", "c native header memory patch clang"),
        (r"\.cs$", "c sharp nullable async"),
        (r"\.dart$", "flutter dart widget"),
        (r"\.rb$", "ruby rubocop"),
        (r"migrations?/|\.sql$|schema|models?/", "migration schema db model"),
        (r"(^|/)(api|routes?|controllers?|endpoints?|handlers?)/",
         "api endpoint request controller route validate response"),
        (r"locales?|l10n|i18n|translations?|messages", "i18n key string language"),
        (r"\.github/|\.gitlab|\.circleci|jenkins", "ci workflow action"),
        (r"package\.json$|pyproject\.toml$|cargo\.toml$|go\.mod$|gemfile|composer\.json$|requirements",
         "dep package version lockfile install"),
        (r"changelog|\.changeset|history\.md|news", "changelog release changeset version"),
        (r"examples?/|demos?/|samples?/", "example demo"),
        (r"\.ya?ml$|\.toml$|\.json$|config", "config data"),
        (r"auth|login|session|permission", "auth security session permission"),
        (r"script|bin/|\.sh$", "script command"),
    )
)  # fmt: skip
"""What the path of the file worked on says, in the words of rules."""

STOP: Final = """a an the of to in on for and or is are be with that this it its by as at from my i was when has have
    if not your you how do does did will would can could should must may might into than then so but
    also any all each every no nor only own same too very just we our us they them their there here what
    which who whom whose these those am been being were had having he she his her him me up out off over
    under again once about against between through during before after above below more most other some
    such always never please let make sure use using used want need get"""
"""Words that are passed over, in tasks and rules alike."""

WEAK: Final = """add fix make change let show improve update write create implement build support allow new feature
    issue bug work thing way please help want need now current currently look looks better nicer up file
    code project"""
"""Words of many tasks that say little about any."""

VERBS: Final = "read name call list print run set find build order move plan draw clean ship finish done wrong ready"
"""Further words that do not say what a task is about; `WEAK` belongs to them."""

ASKS: Final = """what who whose which where why explain recommend suggest compare translate convert describe compose
    invent summarize summarise tell explica explícame recomienda redacta traduce explique recommande
    traduis erkläre empfiehl übersetze erzähle spiega consiglia explique выбери объясни 説明 教え 什么
    解释 推荐 설명"""
"""Words with which a question or a wish begins that no repository's rule is about."""

AFTER_HOW: Final = "do does did many much far long to"

MODAL: Final = re.compile(
    r"\b(?:must|should|shall|never|always|do not|don['’]t|avoid|ensure|required?|only|prefer|cannot|may not|use)\b"
    r"|必须|禁止|不要|必ず|niemals|immer|nunca|siempre",
    re.IGNORECASE,
)
"""What a demand has and a description lacks."""
_MODAL_SIGNS: Final = tuple(
    "must|should|shall|never|always|avoid|ensure|require|only|prefer|cannot|use|niemals|immer|nunca|siempre|do not|"
    "don't|don’t|may not|必须|禁止|不要|必ず".split("|")
)


def has_modal(text: str) -> bool:
    """Whether `MODAL` occurs in a text; most texts without it are rejected by letters alone, five times as fast."""
    lowered = text.lower()
    return any(sign in lowered for sign in _MODAL_SIGNS) and MODAL.search(text) is not None


def kinds_of(file: str) -> str:
    """Return the words that the path of the current file stands for."""
    lowered = file.lower()
    return " ".join(words for pattern, words in KINDS if pattern.search(lowered))
