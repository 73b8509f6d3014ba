/**
 * What pages need and the engine does not have yet. Each is a typed function with what it is to do; the fake host
 * answers all of them. A method or field that the engine gains moves to `types.ts` and goes from here.
 */
import type {
  AttentionRow,
  DuplicatesRow,
  Explanation,
  HistoryRow,
  Id,
  KindView,
  Nothing,
  Page,
  RuleView,
  Status,
  Time,
  TryRow,
} from './types';

/** Fields of `history.list` beside `before` and `limit`; each narrows, what is absent does not. */
export interface HistoryFilter {
  /** Full text over sender and subject, every word as a prefix, never by case. */
  text?: string;
  /** Scope of one mailbox (`mailbox_id`). */
  mailbox?: string;
  /** The owner's name of one destination. */
  destination?: string;
  /** What became of it. */
  outcome?: OutcomeFilter;
  /** First seen at or after. */
  since?: Time;
  /** First seen before. */
  until?: Time;
}
export type OutcomeFilter = 'told' | 'sending' | 'held' | 'silent' | 'uncertain' | 'dead';

/** What a row of the history should say besides. */
export interface HistoryExtras {
  /** Name in the From header. */
  from_name?: string | null;
  /** Id of the rule that decided; null: a fixed one. */
  rule_id?: string | null;
  /** Stable word for `reason`, so that it can be said in the owner's language. */
  reason_code?: string | null;
}
export type HistoryEntry = HistoryRow & HistoryExtras;

export type DuplicateReason = 'push_and_idle' | 'reconnect' | 'other_folder' | 'same_content' | 'same_id';
/** What a row of duplicates should say besides: whom it is from and what became of the one that was kept. */
export type DuplicatesEntry = DuplicatesRow & {
  from?: string | null;
  from_name?: string | null;
  row?: Pick<HistoryRow, 'decision' | 'notifications' | 'sightings' | 'first_seen_at'>;
  reason_codes?: (DuplicateReason | null)[];
};
export interface DuplicatesFilter {
  text?: string;
  reason?: DuplicateReason;
}
/** One day of the chart, oldest first. */
export interface DayFigures {
  /** Local day, `YYYY-MM-DD`. */
  day: string;
  sightings: number;
  rings: number;
  duplicates: number;
}
export interface DuplicatesSummary {
  days: DayFigures[];
  /** Suppressed reports in those days by reason. */
  reasons: Partial<Record<DuplicateReason, number>>;
}

/** What a row that needs attention should say besides: whom the mail is from. */
export type AttentionEntry = AttentionRow & { from?: string | null; from_name?: string | null };

/** What `status.get` should say besides. */
export interface StatusExtras {
  /** All watching is paused until then; absent or null: it is not. */
  paused_until?: Time | null;
  /** This computer has no network since then. */
  offline_since?: Time | null;
  /** The keychain cannot be used. */
  keychain_error?: string | null;
  /** How many of a destination are not delivered, uncertain, waiting, and when the next is sent, by destination id. */
  by_destination?: Record<
    string,
    { dead: number; uncertain: number; pending: number; retry_at: Time | null; attempt: number }
  >;
  /** A newer version is ready. */
  update?: string | null;
}
export type FullStatus = Status & StatusExtras;

/** A test through everything: poll it by the key until it settled. */
export interface SentTest {
  message_key: string;
}
/** A field of a destination's form should say what its value looks like. */
export type FieldForm =
  { kind: 'url' } | { kind: 'text' } | { kind: 'bool' } | { kind: 'number'; min: number; max: number };
export type KindEntry = Omit<KindView, 'fields'> & { fields: (KindView['fields'][number] & { form?: FieldForm })[] };

/** A rule not stored yet, to be tried. */
export type DraftRule = Pick<RuleView, 'id' | 'mailbox' | 'conditions' | 'routes' | 'silent'>;
export type RuleEntry = RuleView & { off?: boolean };
export type TryEntry = TryRow & { at?: Time; from_name?: string | null };

/** Methods that are there and should say more. */
export interface ExtendedMethods {
  'status.get': [Nothing, FullStatus];
  'history.list': [Page, HistoryEntry[]];
  'duplicates.list': [Page, DuplicatesEntry[]];
  'attention.list': [Page, AttentionEntry[]];
  'explain.get': [Id, Explanation & HistoryExtras];
  'destination.kinds': [Nothing, KindEntry[]];
  'rule.list': [Nothing, RuleEntry[]];
  'rule.try': [{ last: number }, TryEntry[]];
}

/** Methods that are not there yet. */
export interface WantedMethods {
  /** Full-text search and filters: `history.list` with more parameters. */
  'history.search': [Page & HistoryFilter, HistoryEntry[]];
  /** `duplicates.list` with a filter. */
  'duplicates.search': [Page & DuplicatesFilter, DuplicatesEntry[]];
  /** Sightings and rings of the last so many days, and why repeats were suppressed. */
  'duplicates.summary': [{ days: number }, DuplicatesSummary];
  /** Checks every mailbox now. */
  'watch.check_now': [Nothing, Nothing];
  /** Pauses all watching for so many minutes; null: until tomorrow at 07:00. */
  'watch.pause': [{ minutes: number | null }, Nothing];
  'watch.resume': [Nothing, Nothing];
  /** Sends one message through rules, outbox and channels, to every destination or to one. */
  'test.send': [{ destination?: string }, SentTest];
  /** Rings again at chosen destinations only. */
  'notification.notify_to': [{ message_key: string; destinations: string[] }, { operation_key: string }];
  /** Switches a rule off without removing it, or on again. */
  'rule.switch': [{ id: string; off: boolean }, Nothing];
  /** Changes a rule in its place. */
  'rule.set': [DraftRule, Nothing];
  /** What a list of rules that is not stored would do with the newest mails. */
  'rule.try_draft': [{ last: number; rules: DraftRule[] }, TryEntry[]];
  /** Opens an address in the system's browser; only https, after a check of the scheme. */
  'link.open': [{ url: string }, Nothing];
  /** Asks where to by a native dialog and writes a copy of the data, or a problem report without mail content. */
  'data.export': [Nothing, { path: string | null }];
  'data.report': [Nothing, { path: string | null }];
}
