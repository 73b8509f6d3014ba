/** The pages that show: status, history, duplicates, attention. */
import type {
  AttemptView,
  DeliveryView,
  DuplicatesRow,
  Explanation,
  Fate,
  HistoryParams,
  HistoryRow,
  NotificationView,
  RepeatReason,
} from '../types';
import { keyOf, NOW, numberOf, time } from './clock';
import { DEMO, details, lags } from './mails';
import type { Handlers } from './methods';
import * as rest from './rest';
import { fault, type World } from './world';

/** Mails a search of the fake looks at before it gives up. */
const SEARCHED_MAX = 40_000;
const LIMIT = 50;
const reasons: RepeatReason[] = ['push_and_idle', 'reconnect', 'other_folder', 'same_content'];
const sources = ['imap', 'jmap', 'imap', 'webhook'];

function isOutcome(row: HistoryRow, outcome: Fate): boolean {
  const some = (status: NotificationView['status']) => row.notifications.some((one) => one.status === status);
  if (outcome === 'silent') return row.decision === 'silent';
  if (outcome === 'held') return row.decision === 'hold';
  if (outcome === 'sending') return some('pending') || some('processing');
  if (outcome === 'told') return some('completed');
  return some(outcome);
}
function fits(row: HistoryRow, filter: HistoryParams): boolean {
  const text = `${row.from} ${row.from_name} ${row.subject}`.toLocaleLowerCase();
  const words = (filter.text ?? '').toLocaleLowerCase().split(/\s+/);
  return (
    words.every((word) => text.includes(word)) &&
    (!filter.mailbox || row.mailbox_id === filter.mailbox) &&
    (!filter.destination || row.notifications.some((one) => one.destination === filter.destination)) &&
    (!filter.outcome || isOutcome(row, filter.outcome)) &&
    (!filter.since || row.first_seen_at >= filter.since) &&
    (!filter.until || row.first_seen_at < filter.until)
  );
}
function take<T, R>(rows: Iterable<T>, limit: number, pick: (row: T) => R | undefined): R[] {
  const out: R[] = [];
  let looked = 0;
  for (const row of rows) {
    if (out.length >= limit || looked++ > SEARCHED_MAX) break;
    const picked = pick(row);
    if (picked !== undefined) out.push(picked);
  }
  return out;
}

function deliveries(row: HistoryRow): DeliveryView[] {
  const number = numberOf(row.message_key);
  const first = Date.parse(row.first_seen_at);
  return Array.from({ length: row.sightings }, (_, index) => {
    const at = index === 0 ? first : first + (lags(number)[index - 1] ?? 0);
    const source = row.mailbox_id === DEMO ? 'demo' : (sources[index % sources.length] ?? 'imap');
    const folder = index === 3 ? 'Archive' : 'INBOX';
    return {
      delivery_key: keyOf(`y${index}`, number),
      source,
      locator: source === 'imap' ? `${folder};UIDVALIDITY=1715000000;UID=${20_000 - (number % 9000)}` : folder,
      verdict: index === 0 ? 'new' : 'duplicate',
      reason: index === 0 ? 'first seen' : 'the same Message-ID',
      times_seen: 1,
      first_seen_at: time(at),
      last_seen_at: time(at),
    };
  });
}
function attempts(row: HistoryRow): AttemptView[] {
  return row.notifications.flatMap((one, index) => {
    const start = Date.parse(row.first_seen_at) + 120 + index * 60;
    const tried = (
      attempt: number,
      from: number,
      ms: number,
      outcome: AttemptView['outcome'],
      code: string | null,
    ) => ({
      dispatch_key: one.dispatch_key,
      attempt,
      started_at: time(from),
      payload_started_at: time(from + 5),
      finished_at: time(from + ms),
      outcome,
      code,
      detail: code ? (details[code] ?? 'The server answered 429') : null,
    });
    if (one.status === 'uncertain') return [tried(1, start, 30_000, 'unknown', 'no_answer')];
    if (one.status === 'dead') return [tried(1, start, 200, 'rejected', 'authentication_error')];
    if (one.status === 'pending')
      return [
        tried(1, start, 1100, 'deferred', 'temporary_unavailable'),
        tried(2, start + 9000, 900, 'deferred', 'temporary_unavailable'),
      ];
    if (one.destination === 'This computer') return [tried(1, start, 12, 'accepted', null)];
    return index === 1
      ? [tried(1, start, 100, 'deferred', 'rate_limit'), tried(2, start + 1000, 300, 'accepted', null)]
      : [tried(1, start, 310, 'accepted', null)];
  });
}
function linkOf(world: World, row: HistoryRow, messageId: string): string | null {
  const template = world.mailboxes.find((one) => one.mailbox_id === row.mailbox_id)?.link_template;
  return template?.replace('{message_id}', encodeURIComponent(messageId)) ?? null;
}
function explain(world: World, id: string): Explanation {
  const row = world.byKey(id);
  const message_id = `20260514.${numberOf(row.message_key) + 9317}@${row.from?.split('@')[1]}`;
  return {
    ...row,
    deliveries: deliveries(row),
    identities: [
      { kind: 'message_id', value: `<${message_id}>` },
      { kind: 'fingerprint', value: keyOf('f', numberOf(row.message_key)) },
    ],
    attempts: attempts(row),
    actions: world.actions.get(id) ?? [],
    link: linkOf(world, row, message_id),
  };
}

function duplicate(row: HistoryRow, reason?: RepeatReason): DuplicatesRow | undefined {
  if (row.sightings < 2) return undefined;
  const number = numberOf(row.message_key);
  const all = deliveries(row);
  const codes = all.slice(1).map((_, index): RepeatReason => reasons[(index + number) % reasons.length] ?? 'same_id');
  if (reason && !codes.includes(reason)) return undefined;
  return {
    message_key: row.message_key,
    subject: row.subject,
    from: row.from,
    from_name: row.from_name,
    row,
    kept: { source: 'imap', locator: all[0]?.locator ?? 'INBOX', at: row.first_seen_at },
    suppressed: all.slice(1).map((one, index) => ({
      source: one.source,
      locator: one.locator,
      verdict: 'duplicate',
      reason: one.reason,
      reason_code: codes[index] ?? 'same_id',
      at: one.first_seen_at,
      times_seen: 1,
    })),
  };
}

export const reading: Handlers = {
  'status.get': (world) => {
    const stuck = world.attention();
    const full = world.count > 0;
    return {
      running: true,
      mailboxes: world.mailboxes.map((one) => (world.pausedUntil ? { ...one, state: 'paused' } : one)),
      destinations: world.destinations,
      pending: full ? 1 : 0,
      oldest_due_at: full ? time(Date.parse(world.mail(2).first_seen_at)) : null,
      dead: stuck.filter((row) => row.status === 'dead').length,
      uncertain: stuck.filter((row) => row.status === 'uncertain').length,
      held: 0,
      alarms: [],
      today: full ? rest.figures : { sightings: 0, rings: 0, silent: 0, duplicates: 0 },
      paused_until: world.pausedUntil,
      offline_since: world.offlineSince,
      keychain_error: world.keychainError,
      tray: world.tray,
      by_destination: full ? rest.byDestination : {},
    };
  },
  'history.list': (world, { before, limit, ...filter }) =>
    take(world.after(before), limit ?? LIMIT, (row) => (fits(row, filter) ? row : undefined)),
  'duplicates.list': (world, { before, limit, text, reason }) =>
    take(world.after(before), limit ?? LIMIT, (row) =>
      fits(row, text ? { text } : {}) ? duplicate(row, reason) : undefined,
    ),
  'duplicates.summary': (world, { days }) =>
    world.count === 0
      ? { days: [], reasons: {} }
      : {
          days: rest.days.slice(-days),
          reasons: { push_and_idle: 331, reconnect: 188, other_folder: 79, same_content: 28 },
        },
  'attention.list': (world, page) => (page.before ? [] : world.attention()),
  'alarms.list': () => [],
  'explain.get': (world, { id }) => explain(world, id),
  'notification.retry': (world, { id }) => {
    world.settle(id, 'pending');
    return { dispatch_key: id, status: 'pending' };
  },
  'notification.mark_delivered': (world, { id }) => {
    world.settle(id, 'completed');
    return { dispatch_key: id, status: 'completed' };
  },
  'notification.dismiss': (world, { id }) => {
    world.settle(id, 'cancelled');
    return { dispatch_key: id, status: 'cancelled' };
  },
  'notification.redrive': (world, { since }) => {
    if (Number.isNaN(Date.parse(since))) throw fault('invalid', 'that is not a time');
    const dead = world.attention().filter((row) => row.status === 'dead' && row.since >= since);
    for (const row of dead) world.settle(row.dispatch_key, 'pending');
    return { redriven: dead.length };
  },
  'notification.notify_again': (_, { message_key }) => ({ operation_key: keyOf('again', numberOf(message_key)) }),
  'notification.notify_to': (_, { message_key }) => ({ operation_key: keyOf('again', numberOf(message_key)) }),
  'mail.mark_read': (world, { message_key }) => {
    const at = time(NOW);
    world.act(message_key, { action: 'mark_read', started_at: at, finished_at: at, outcome: 'done', error: null });
    return {};
  },
  'watch.check_now': () => ({}),
  'watch.pause': (world, { minutes }) => {
    world.pausedUntil =
      minutes === null ? '2026-05-15T07:00:00.000Z' : time(Date.parse('2026-05-14T14:31:40Z') + minutes * 60_000);
    world.changed(['status', 'mailboxes']);
    return { until: world.pausedUntil };
  },
  'watch.resume': (world) => {
    world.pausedUntil = null;
    world.changed(['status', 'mailboxes']);
    return {};
  },
  'test.send': (world) => ({ message_key: test(world) }),
  'link.open': () => ({}),
};

/** A test message, accepted by every destination. */
function test(world: World): string {
  const number = 0xf0000000 + world.fresh.length;
  const at = Date.parse('2026-05-14T14:31:40Z') + world.fresh.length;
  world.fresh.unshift({
    message_key: keyOf('m', number),
    operation_key: keyOf('o', number),
    mailbox_id: 'ringonce',
    from: null,
    from_name: 'Ringonce',
    subject: 'Test',
    sent_at: null,
    first_seen_at: time(at),
    first_verdict: 'new',
    decision: 'notify',
    reason: 'everything else',
    reason_code: 'everything_else',
    rule_id: null,
    sightings: 1,
    notifications: world.destinations
      .filter((one) => one.state !== 'paused' && !one.fallback_only)
      .map((one, index) => ({
        dispatch_key: keyOf(`t${index}`, number),
        destination: one.name,
        recipient: one.recipient,
        status: 'completed',
        reason: null,
        attempt: 1,
        due_at: null,
        completed_at: time(at + 300),
        external_message_id: null,
        last_error: null,
      })),
  });
  world.destinations = world.destinations.map((one) => ({ ...one, last_delivery_at: time(at) }));
  world.changed(['history', 'status', 'destinations']);
  return world.fresh[0]?.message_key ?? '';
}
