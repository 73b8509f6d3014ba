//! The texts of the native dialogs.

use ringonce_engine::words::Choice;

/// In one language.
pub(crate) struct Words {
    /// Title of the question whether a program may be run.
    pub(crate) run_title: &'static str,
    /// The question; the command line stands below.
    pub(crate) run_question: &'static str,
    /// Allows it.
    pub(crate) run_yes: &'static str,
    /// Does not.
    pub(crate) no: &'static str,
    /// Title of the dialog that asks where the copy goes.
    pub(crate) export_title: &'static str,
    /// Title of the dialog that asks where the report goes.
    pub(crate) report_title: &'static str,
    /// Said when the window is closed for the first time.
    pub(crate) closing_title: &'static str,
    /// The way back, where there is a tray icon.
    pub(crate) closing_tray: &'static str,
    /// The way back, where there is none.
    pub(crate) closing_menu: &'static str,
}

const ENGLISH: Words = Words {
    run_title: "Let Ringonce run a program?",
    run_question: "For each new mail Ringonce would run this program as you, with sender and subject of the mail:",
    run_yes: "Allow",
    no: "Cancel",
    export_title: "Save a copy of your data",
    report_title: "Save a problem report",
    closing_title: "Ringonce keeps watching",
    closing_tray: "You are told about new mail as before. The icon in the tray opens this window again, and ends \
                   Ringonce.",
    closing_menu: "You are told about new mail as before. Start Ringonce again to open this window.",
};

const RUSSIAN: Words = Words {
    run_title: "Разрешить Ringonce запускать программу?",
    run_question: "На каждое новое письмо Ringonce будет запускать от вашего имени эту программу и передавать ей отправителя и тему:",
    run_yes: "Разрешить",
    no: "Отмена",
    export_title: "Сохранить копию данных",
    report_title: "Сохранить отчёт о проблеме",
    closing_title: "Ringonce продолжает следить за почтой",
    closing_tray: "О новых письмах вы узнаете, как и раньше. Значок в области уведомлений снова откроет это окно или \
                   завершит работу Ringonce.",
    closing_menu: "О новых письмах вы узнаете, как и раньше. Чтобы открыть это окно, запустите Ringonce ещё раз.",
};

const POLISH: Words = Words {
    run_title: "Czy Ringonce może uruchamiać program?",
    run_question: "Dla każdej nowej wiadomości Ringonce będzie uruchamiać w Twoim imieniu ten program, przekazując mu nadawcę i temat:",
    run_yes: "Zezwól",
    no: "Anuluj",
    export_title: "Zapisz kopię danych",
    report_title: "Zapisz raport o problemie",
    closing_title: "Ringonce nadal czuwa",
    closing_tray: "O nowych wiadomościach dowiesz się tak jak dotąd. Ikona w zasobniku otworzy to okno ponownie lub \
                   zakończy działanie Ringonce.",
    closing_menu: "O nowych wiadomościach dowiesz się tak jak dotąd. Aby otworzyć to okno, uruchom Ringonce ponownie.",
};

/// In the language that the owner chose.
pub(crate) fn of(choice: Choice) -> &'static Words {
    choice.language().pick(&ENGLISH, &RUSSIAN, &POLISH)
}
