/** Says things in the owner's language: whole sentences by key, with plurals, numbers, times and durations. */
import { IntlMessageFormat } from 'intl-messageformat';
import { getContext, setContext } from 'svelte';
import { en } from './en';
import { pl } from './pl';
import { ru } from './ru';

export type Key = keyof typeof en;
export type Language = 'en' | 'ru' | 'pl';
export type Values = Record<string, string | number>;
/** A piece of a sentence; `tag` is the mark around it, such as `b`. */
export interface Piece {
  tag: string | null;
  text: string;
}
export const LANGUAGES: Record<Language, string> = { en: 'English', ru: 'Русский', pl: 'Polski' };

const all: Record<Language, Record<Key, string>> = { en, ru, pl };
const TAGS = ['b', 'q', 'a'] as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CONTEXT = Symbol('words');

/** The language of the system, where we speak it. */
export function systemLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const base = tag.slice(0, 2).toLowerCase();
    if (base in all) return base as Language;
  }
  return 'en';
}

export class Words {
  language = $state<Language>('en');
  #compiled = new Map<string, IntlMessageFormat>();

  constructor(language: Language) {
    this.language = language;
  }

  /** A sentence. */
  say = (key: Key, values: Values = {}): string =>
    this.pieces(key, values)
      .map((piece) => piece.text)
      .join('');

  /** A sentence in pieces, for those with marks in it. */
  pieces = (key: Key, values: Values = {}): Piece[] => {
    const marks = Object.fromEntries(
      TAGS.map((tag) => [tag, (inner: (string | Piece)[]) => ({ tag, text: inner.map(asText).join('') }) as never]),
    );
    const made = this.#message(key).format<Piece>({ ...values, ...marks });
    const list: (string | Piece)[] = Array.isArray(made) ? made : [made];
    return list.map((part) => (typeof part === 'string' ? { tag: null, text: part } : part));
  };

  /** Whether there is such a sentence: for keys made of words of the engine. */
  has = (key: string): key is Key => key in en;

  number = (value: number): string => new Intl.NumberFormat(this.language).format(value);

  list = (items: readonly string[]): string => new Intl.ListFormat(this.#locale, { type: 'conjunction' }).format(items);

  /** `14:28`. */
  clock = (at: number): string => this.#date(at, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

  /** `14:28:03`. */
  second = (at: number): string =>
    this.#date(at, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

  /** Everything, for hovering and readers. */
  exact = (at: number): string => this.#date(at, { dateStyle: 'full', timeStyle: 'medium' });

  /** `4 min ago` within the hour, the clock today, else the day. */
  when = (at: number, now: number): string => (now - at < HOUR ? this.ago(at, now) : this.moment(at, now));

  /** The clock today, the weekday within a week, else the date. */
  moment = (at: number, now: number): string => {
    if (sameDay(at, now)) return this.clock(at);
    if (Math.abs(now - at) < 6 * DAY) return this.#date(at, { weekday: 'long' });
    return this.date(at, now);
  };

  /** `9 May`, with the year where it is another. */
  date = (at: number, now: number): string => {
    const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? {} : { year: 'numeric' as const };
    return this.#date(at, { day: 'numeric', month: 'short', ...year });
  };

  /** Heading of a day: today, yesterday, else the date. */
  day = (at: number, now: number): string => {
    if (sameDay(at, now)) return this.say('time.today');
    if (sameDay(at, now - DAY)) return this.say('time.yesterday');
    const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? {} : { year: 'numeric' as const };
    return this.#date(at, { weekday: 'long', day: 'numeric', month: 'long', ...year });
  };

  ago = (at: number, now: number): string => {
    const past = Math.max(0, now - at);
    if (past < 5000) return this.say('time.now');
    const [size, unit] = past < MINUTE ? [1000, 'second'] : past < HOUR ? [MINUTE, 'minute'] : [HOUR, 'hour'];
    const format = new Intl.RelativeTimeFormat(this.#locale, { style: 'short' });
    return format.format(-Math.round(past / (size as number)), unit as Intl.RelativeTimeFormatUnit);
  };

  /** `12 ms`, `0.3 s`, `3 min 37 s`. */
  duration = (ms: number): string => {
    if (ms < 100) return this.#unit(Math.max(0, Math.round(ms)), 'millisecond');
    if (ms < 10_000) return this.#unit(Math.round(ms / 100) / 10, 'second');
    if (ms < MINUTE) return this.#unit(Math.round(ms / 1000), 'second');
    if (ms < HOUR) return this.#two(ms, MINUTE, 'minute', 1000, 'second');
    if (ms < DAY) return this.#two(ms, HOUR, 'hour', MINUTE, 'minute');
    return this.#unit(Math.round(ms / DAY), 'day');
  };

  /** English with day before month and 24 hours. */
  get #locale(): string {
    return this.language === 'en' ? 'en-GB' : this.language;
  }

  #two(ms: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
    const whole = Math.floor(ms / big);
    const rest = Math.round((ms % big) / small);
    const first = this.#unit(whole, bigUnit);
    return rest === 0 ? first : `${first} ${this.#unit(rest, smallUnit)}`;
  }

  #unit(value: number, unit: string): string {
    return new Intl.NumberFormat(this.language, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
  }

  #date(at: number, options: Intl.DateTimeFormatOptions): string {
    return new Intl.DateTimeFormat(this.#locale, options).format(at);
  }

  #message(key: Key): IntlMessageFormat {
    const id = `${this.language}:${key}`;
    const known = this.#compiled.get(id);
    if (known) return known;
    const made = new IntlMessageFormat(all[this.language][key] ?? key, this.language);
    this.#compiled.set(id, made);
    return made;
  }
}

const asText = (part: string | Piece): string => (typeof part === 'string' ? part : part.text);
const sameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString();

export const provideWords = (words: Words): Words => setContext(CONTEXT, words);
export const useWords = (): Words => getContext<Words>(CONTEXT);
