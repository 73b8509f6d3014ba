//! Words: what Ringonce says outside its window, in each of its languages. One function a text; each language has
//! whole sentences, with a form for each kind of number where there is one.

/// A language Ringonce speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    En,
    /// Russian.
    Ru,
    /// Polish.
    Pl,
}

/// What the owner chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// As the session of the owner speaks.
    System,
    /// Always this one.
    Fixed(Language),
}

impl Choice {
    /// From the setting; what is no language is the system's.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        by_code(text).map_or(Self::System, Self::Fixed)
    }

    /// The language to speak now.
    #[must_use]
    pub fn language(self) -> Language {
        match self {
            Self::Fixed(language) => language,
            Self::System => of_locale(["LC_ALL", "LC_MESSAGES", "LANG"].map(|name| std::env::var(name).ok())),
        }
    }
}

/// The language of a locale's variables, the strongest first; an empty one says nothing (POSIX.1, 8.2).
fn of_locale(variables: [Option<String>; 3]) -> Language {
    let said = variables.into_iter().flatten().find(|value| !value.is_empty()).unwrap_or_default();
    let code = said.split(['_', '.', '@', '-']).next().unwrap_or_default();
    by_code(&code.to_ascii_lowercase()).unwrap_or(Language::En)
}

fn by_code(code: &str) -> Option<Language> {
    match code {
        "en" => Some(Language::En),
        "ru" => Some(Language::Ru),
        "pl" => Some(Language::Pl),
        _ => None,
    }
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 3] = [Self::En, Self::Ru, Self::Pl];

    /// The text of this language.
    #[must_use]
    pub fn pick<T>(self, en: T, ru: T, pl: T) -> T {
        match self {
            Self::En => en,
            Self::Ru => ru,
            Self::Pl => pl,
        }
    }

    /// The form of a number of things. English has no `few`; Russian counts by the last digits, and so does Polish but
    /// for one (CLDR plural rules of whole numbers).
    #[must_use]
    pub fn plural<T>(self, count: u64, one: T, few: T, many: T) -> T {
        let (last, last_two) = (count % 10, count % 100);
        let is_few = (2..=4).contains(&last) && !(12..=14).contains(&last_two);
        match self {
            Self::En if count == 1 => one,
            Self::En => many,
            Self::Ru if last == 1 && last_two != 11 => one,
            Self::Pl if count == 1 => one,
            Self::Ru | Self::Pl if is_few => few,
            Self::Ru | Self::Pl => many,
        }
    }
}

/// The button that marks a mail as read.
#[must_use]
pub fn mark_read(language: Language) -> &'static str {
    language.pick("Mark read", "Прочитано", "Oznacz jako przeczytane")
}

/// The button that opens a mail, or what is known of it.
#[must_use]
pub fn open(language: Language) -> &'static str {
    language.pick("Open", "Открыть", "Otwórz")
}

/// All that is told of a mail where no more may be.
#[must_use]
pub fn new_mail(language: Language) -> &'static str {
    language.pick("New mail", "Новое письмо", "Nowa wiadomość")
}

/// In place of a subject.
#[must_use]
pub fn no_subject(language: Language) -> &'static str {
    language.pick("(no subject)", "(без темы)", "(bez tematu)")
}

/// In place of an author.
#[must_use]
pub fn unknown_sender(language: Language) -> &'static str {
    language.pick("Unknown sender", "Неизвестный отправитель", "Nieznany nadawca")
}

/// Where Ringonce has something to say that may not leave this computer.
#[must_use]
pub fn see_more(language: Language) -> &'static str {
    language.pick(
        "Open Ringonce to see more",
        "Откройте Ringonce, чтобы узнать больше",
        "Otwórz Ringonce, aby zobaczyć więcej",
    )
}

/// Before a message that may have arrived before.
#[must_use]
pub fn may_be_repeat(language: Language) -> &'static str {
    language.pick("May be a repeat: ", "Возможно, повтор: ", "Być może powtórka: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_variable_that_says_something_decides() {
        let check = |values: [&str; 3], expected: Language| {
            let given = values.map(|value| (value != "-").then(|| value.to_owned()));
            assert_eq!(of_locale(given), expected, "LC_ALL, LC_MESSAGES, LANG = {values:?}");
        };
        check(["-", "-", "-"], Language::En);
        check(["-", "-", "ru_RU.UTF-8"], Language::Ru);
        check(["-", "pl_PL", "ru_RU.UTF-8"], Language::Pl);
        check(["C", "pl_PL", "ru_RU.UTF-8"], Language::En);
        check(["", "", "pl"], Language::Pl);
        check(["-", "-", "be_BY@latin"], Language::En);
        check(["RU-ru", "-", "-"], Language::Ru);
    }

    #[test]
    fn numbers_have_their_forms() {
        let check = |language: Language, one: &[u64], few: &[u64], many: &[u64]| {
            for (form, counts) in [("one", one), ("few", few), ("many", many)] {
                for count in counts {
                    assert_eq!(language.plural(*count, "one", "few", "many"), form, "{language:?} {count}");
                }
            }
        };
        check(Language::En, &[1], &[], &[0, 2, 5, 11, 21, 101]);
        check(Language::Ru, &[1, 21, 101], &[2, 4, 22, 104], &[0, 5, 11, 12, 14, 20, 111, 112]);
        check(Language::Pl, &[1], &[2, 4, 22, 104], &[0, 5, 11, 12, 21, 101, 112]);
    }

    #[test]
    fn each_text_is_there_in_each_language_and_no_two_are_alike() {
        let texts = [mark_read, open, new_mail, no_subject, unknown_sender, see_more, may_be_repeat];
        for text in texts {
            let all = Language::ALL.map(text);
            assert!(all.iter().all(|text| !text.trim().is_empty()), "{all:?}");
            assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "one was not translated: {all:?}");
        }
    }
}
