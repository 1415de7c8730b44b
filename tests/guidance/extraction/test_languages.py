from __future__ import annotations

import pytest

from tipstaff import compile_guidance
from tipstaff.frontmatter import read_front_matter

PARAGRAPHS = {
    "ar": "يجب أن تنجح الاختبارات. لا تستخدم any في الكود أبدا.",
    "de": "pnpm verwenden. Keine Secrets committen. Code ist auf Englisch zu schreiben.",
    "es": "No subir secretos al repositorio. Está prohibido hacer push. Usar pnpm para los paquetes.",
    "fr": "Utiliser pnpm pour les paquets. Ne pas committer de secrets. Il est interdit de pousser sur main.",
    "hi": "कोड में any का उपयोग न करें। टेस्ट ज़रूरी हैं।",
    "id": "Jangan commit rahasia. Sebaiknya tulis tes. Tidak boleh menghapus data.",
    "it": "Usare pnpm per i pacchetti. Non committare segreti. È vietato il push.",
    "ja": "日本語で回答する。秘密情報はコミットしない。テストを必ず書く。pnpmを使用すること。レビューを推奨する。",
    "ko": "pnpm을 사용한다. 비밀을 커밋하지 않는다. 커밋 전에 린트를 실행할 것. main에 푸시 금지.",
    "pl": "Używaj pnpm zamiast npm. Kod musi mieć testy. Nie commituj sekretów.",
    "pt": "Não enviar segredos. É proibido o push. Usar pnpm para os pacotes.",
    "ru": "Использовать только pnpm. Нельзя коммитить секреты. Писать тесты для каждого модуля.",
    "tr": "pnpm kullan. Sırları commit etme. Her zaman lint çalıştır. Dosyaları silmeyin. Kod temiz olmalı.",
    "vi": "Luôn dùng pnpm. Không được commit bí mật. Hãy viết test. Cần chạy lint trước khi push. Tránh dùng any.",
    "zh": "請使用繁體中文回覆。不得提交密鑰。測試必須通過。嚴禁刪除資料。優先使用 pnpm。一律使用英文。",
}


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_no_sentence_that_demands_is_dropped(language: str) -> None:
    text = PARAGRAPHS[language]
    found = {rule.text for rule in compile_guidance(f"# A\n\n{text}\n").rules() if rule.kind == "rule"}
    wanted = {f"{one.strip()}{mark}" for mark in "。।." for one in text.split(mark)[:-1] if mark in text[-1:]}
    assert found == wanted


def test_items_with_marks_and_digits_of_other_scripts() -> None:
    text = "# قواعد\n\n• لا تقم بحذف قاعدة البيانات\n١. اكتب الاختبارات قبل الكود\n\n1、先写测试\n2、不要提交密钥\n"
    rules = [rule.text for rule in sorted(compile_guidance(text).rules(), key=lambda rule: rule.line)]
    assert rules == ["لا تقم بحذف قاعدة البيانات", "اكتب الاختبارات قبل الكود", "先写测试", "不要提交密钥"]


@pytest.mark.parametrize(
    "text",
    [
        "- Diese Datei beschreibt das Projekt", "- 이 저장소에서 에이전트가 일하는 방법을 정의", "- React + TypeScript + Vite",
        "## なぜ\n\n- 規約に違反する可能性がある", "- SHOP | `/shop` | 제품 구매", "- Kadang user hanya ingin diskusi",
        "## 违い\n\n- PRD.md：需求与范围", "The tests were broken.",
    ],
)  # fmt: skip
def test_what_describes_is_no_rule(text: str) -> None:
    assert [rule for rule in compile_guidance(f"# A\n\n{text}\n").rules() if rule.kind == "rule"] == []


def test_a_demand_without_its_object_takes_the_next_sentence() -> None:
    text = "**Final step, do not skip.** Open `CHECKLIST.md` and work through every point.\n"
    (rule,) = compile_guidance(text).rules()
    assert rule.text == "Final step, do not skip: Open `CHECKLIST.md` and work through every point."


@pytest.mark.parametrize(
    ("matter", "mode"),
    [
        ("inclusion: manual", "manual"), ("inclusion: fileMatch", "files"), ("trigger: model_decision", "described"),
        ("trigger: always_on", "always"), ("type: agent_requested", "described"), ("description: x", ""),
    ],
)  # fmt: skip
def test_modes_of_hosts(matter: str, mode: str) -> None:
    assert read_front_matter(matter).mode == mode


def test_an_unknown_mode_is_said() -> None:
    assert [code for code, _ in read_front_matter("inclusion: filematch").problems] == ["TS107"]


def test_a_sentence_about_the_commands_below_it_has_them() -> None:
    text = "Always run these commands before committing.\n\n```bash\nuv sync\nuv run pytest\n```\n"
    (rule,) = compile_guidance(text).rules()
    assert rule.text == "Always run these commands before committing. `uv sync` `uv run pytest`"
