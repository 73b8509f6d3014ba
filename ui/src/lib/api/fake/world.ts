/** The state of the fake: what is configured, what happened, and what the window changed since. */
import type {
  ActionView,
  AttentionRow,
  DestinationView,
  HistoryRow,
  MailboxView,
  NotificationView,
  RouteView,
  RuleView,
  SettingView,
  Topic,
  TrayState,
  WireFault,
} from '../types';
import { numberOf, past, today, time } from './clock';
import type { FakeMode } from './host';
import { DEMO, demoMails, mail } from './mails';
import * as rest from './rest';

/** Mails of the full history. */
const MAILS = 1_000_000;

export class World {
  mailboxes: MailboxView[] = [];
  destinations: DestinationView[] = [];
  routes: RouteView[] = [];
  rules: RuleView[] = [];
  settings: SettingView[] = rest.settings();
  pausedUntil: string | null = null;
  offlineSince: string | null = null;
  keychainError: string | null = null;
  tray: TrayState = 'shown';
  /** What was done to mails, by their key. */
  actions = new Map<string, ActionView[]>();
  count = 0;
  readonly mode: FakeMode;
  readonly changed: (topics: Topic[]) => void;
  /** Mails that came while the window looked. */
  fresh: HistoryRow[] = [];
  #patched = new Map<number, HistoryRow>();
  #next = 1;

  constructor(mode: FakeMode, changed: (topics: Topic[]) => void) {
    this.mode = mode;
    this.changed = changed;
    if (mode === 'empty') return;
    this.count = MAILS;
    this.mailboxes = mode === 'trouble' ? [...rest.mailboxes(), rest.troubledMailbox()] : rest.mailboxes();
    this.destinations = rest.destinations();
    this.routes = rest.routes();
    this.rules = rest.rules();
    this.actions = rest.actions();
    this.#look(mode);
    if (mode === 'trouble') {
      this.mailboxes[2] = {
        ...this.need(this.mailboxes, 'mbclub00'),
        state: 'offline',
        method: 'none',
        last_check_at: past(420_000),
      };
    }
  }

  /** What stands in the way of watching, and what stands beside it. */
  #look(mode: FakeMode): void {
    const all = (more: Partial<MailboxView>) =>
      (this.mailboxes = this.mailboxes.map((one) => ({ ...one, method: 'none', ...more })));
    if (mode === 'demo') this.startDemo();
    if (mode === 'notray') this.tray = 'no_host';
    if (mode === 'paused') this.pausedUntil = time(today('15:30:00'));
    if (mode === 'offline') {
      this.offlineSince = past(420_000);
      all({ state: 'offline', last_check_at: past(430_000) });
    }
    if (mode === 'locked') {
      this.keychainError = 'no secret service answers';
      all({ state: 'failing', error: { code: 'secret', detail: 'The keyring is locked' } });
    }
  }

  startDemo(): void {
    if (this.mailboxes.some((one) => one.demo)) return;
    this.mailboxes = [...this.mailboxes, rest.demoMailbox()];
    this.fresh.unshift(...demoMails());
  }

  endDemo(): void {
    this.mailboxes = this.mailboxes.filter((one) => !one.demo);
    this.fresh = this.fresh.filter((row) => row.mailbox_id !== DEMO);
  }

  act(key: string, action: ActionView): void {
    this.actions.set(key, [...(this.actions.get(key) ?? []), action]);
    this.changed(['history']);
  }

  id(prefix: string): string {
    return `${prefix}${String(this.#next++).padStart(6, '0')}`;
  }

  mail(number: number): HistoryRow {
    return this.#patched.get(number) ?? mail(number);
  }

  byKey(key: string): HistoryRow {
    const fresh = this.fresh.find((row) => row.message_key === key);
    if (fresh) return fresh;
    const number = numberOf(key);
    if (!(number < this.count)) throw fault('not_found', `there is no mail "${key}"`);
    return this.mail(number);
  }

  /** The mails behind a key, newest first. */
  *after(before: string | undefined): Generator<HistoryRow> {
    const freshAt = before ? this.fresh.findIndex((row) => row.message_key === before) : -1;
    if (!before || freshAt >= 0) yield* this.fresh.slice(freshAt + 1);
    const from = before && freshAt < 0 ? numberOf(before) + 1 : 0;
    for (let number = from; number < this.count; number++) yield this.mail(number);
  }

  /** Changes one notification of a mail. */
  settle(dispatchKey: string, status: NotificationView['status']): void {
    const number = numberOf(dispatchKey);
    const row = this.mail(number);
    const notifications = row.notifications.map((one) =>
      one.dispatch_key === dispatchKey
        ? {
            ...one,
            status,
            due_at: status === 'pending' ? past(-1000) : null,
            completed_at: past(0),
            last_error: status === 'completed' ? null : one.last_error,
          }
        : one,
    );
    this.#patched.set(number, { ...row, notifications });
    this.changed(['history', 'attention', 'status']);
  }

  /** Dead and uncertain ones among the mails made by hand. */
  attention(): AttentionRow[] {
    if (this.count === 0) return [];
    const rows = Array.from({ length: 12 }, (_, number) => this.mail(number)).flatMap((row) =>
      row.notifications
        .filter((one) => one.status === 'dead' || one.status === 'uncertain')
        .map((one) => this.#entry(row, one)),
    );
    const older = this.mail(1300);
    const second = older.notifications[0];
    if (second && !this.#patched.has(1300)) {
      const dead = {
        ...second,
        destination: 'On call',
        status: 'dead' as const,
        last_error: { code: 'authentication_error', detail: 'The server answered 403' },
      };
      rows.push({
        ...this.#entry({ ...older, from_name: 'Night watch', subject: 'Door 3 was left open' }, dead),
        since: '2026-05-11T23:48:00.000Z',
      });
    }
    return rows;
  }

  #entry(row: HistoryRow, one: NotificationView): AttentionRow {
    return {
      dispatch_key: one.dispatch_key,
      message_key: row.message_key,
      subject: row.subject,
      from: row.from,
      from_name: row.from_name ?? null,
      destination: one.destination,
      status: one.status === 'dead' ? 'dead' : 'uncertain',
      attempt: one.attempt,
      last_error: one.last_error,
      since: one.completed_at ?? time(today('12:00:00')),
    };
  }

  need<T extends { id: string }>(list: T[], id: string): T {
    const found = list.find((item) => item.id === id);
    if (!found) throw fault('not_found', `there is no "${id}"`);
    return found;
  }
}

export const fault = (code: WireFault['code'], cause: string): WireFault => ({
  code,
  consequence: 'Nothing was changed',
  cause,
  next_step: 'check what was given',
});
