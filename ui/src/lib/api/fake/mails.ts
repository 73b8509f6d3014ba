/** Invented mail: a dozen by hand, the rest made from its number, so that a million costs nothing. */
import type { DecisionWord, HistoryRow, NotificationStatus, NotificationView, Verdict } from '../types';
import { HOUR, keyOf, MINUTE, NOW, time, today } from './clock';

interface Sketch {
  at: string;
  name: string;
  address: string;
  subject: string;
  box: string;
  sightings: number;
  decision?: DecisionWord;
  reason?: string;
  rule?: string | null;
  to?: [destination: string, status: NotificationStatus, code?: string][];
}
export const HOME = 'mira@example.org';
export const WORK = 'mira.novak@example.com';
export const CLUB = 'board@example.org';
export const DEMO = 'ringonce-demo';

const byHand: Sketch[] = [
  {
    at: '14:28:03',
    name: 'Harbour Bank',
    address: 'alerts@harbourbank.example.com',
    subject: 'A payment of 249.00 was made with your card',
    box: HOME,
    sightings: 3,
    rule: 'r1',
    to: [
      ['This computer', 'completed'],
      ['Phone', 'completed'],
    ],
  },
  {
    at: '14:11:20',
    name: 'Northline Rail',
    address: 'info@northline.example.com',
    subject: 'Your 17:42 to Seaford is 25 minutes late',
    box: HOME,
    sightings: 2,
    to: [['Phone', 'completed']],
  },
  {
    at: '13:56:02',
    name: 'Ewa Zielińska',
    address: 'ewa@zielinska.example.pl',
    subject: 'Poprawki do umowy najmu – proszę o podpis do piątku',
    box: WORK,
    sightings: 1,
    to: [['Phone', 'pending', 'temporary_unavailable']],
  },
  {
    at: '13:40:11',
    name: 'Поликлиника № 4',
    address: 'priem@poliklinika4.example.ru',
    subject: 'Напоминание: приём у врача завтра в 9:30',
    box: HOME,
    sightings: 1,
    to: [['Phone', 'completed']],
  },
  {
    at: '13:22:40',
    name: 'Tomás Rivera',
    address: 'tomas@rivera.example.es',
    subject:
      'Re: Fwd: Re: [allotment-board] Minutes of 3 May, the broken pump in row C, the fence quote, and who is bringing the ladder on Saturday',
    box: CLUB,
    sightings: 4,
    rule: 'r4',
    to: [['Board room', 'completed']],
  },
  {
    at: '12:58:37',
    name: 'The Paper Mill',
    address: 'news@papermill.example.com',
    subject: 'Spring catalogue: forty new sheets',
    box: HOME,
    sightings: 1,
    decision: 'silent',
    reason: 'list-id contains "news"',
    rule: 'r3',
  },
  {
    at: '12:31:08',
    name: 'مكتبة النور',
    address: 'orders@alnoor.example.com',
    subject: 'تم شحن طلبك رقم 20418 وسيصل يوم الخميس',
    box: HOME,
    sightings: 2,
    to: [['Phone', 'completed']],
  },
  {
    at: '12:04:51',
    name: 'build@ci.example.com',
    address: 'build@ci.example.com',
    subject: '[main] 1 check failed: integration / folder moves',
    box: WORK,
    sightings: 1,
    rule: 'r4',
    to: [['Board room', 'uncertain', 'no_answer']],
  },
  {
    at: '11:47:19',
    name: 'Kite & Co. Accounts',
    address: 'accounts@kite.example.com',
    subject: 'Invoice 2026-0514',
    box: WORK,
    sightings: 2,
    to: [
      ['Phone', 'completed'],
      ['This computer', 'completed'],
    ],
  },
  {
    at: '11:20:41',
    name: 'Dr Ilse Brandt',
    address: 'praxis@brandt.example.de',
    subject: 'Your results are ready',
    box: HOME,
    sightings: 1,
    rule: 'r5',
    to: [['On call', 'dead', 'authentication_error']],
  },
  {
    at: '10:55:02',
    name: 'City Library',
    address: 'loans@library.example.org',
    subject: '3 items are due on Friday',
    box: HOME,
    sightings: 1,
    decision: 'silent',
    reason: 'list-id contains "loans"',
    rule: 'r3',
  },
  {
    at: '10:12:33',
    name: 'Ravi Menon',
    address: 'ravi@menon.example.com',
    subject: 'lunch?',
    box: WORK,
    sightings: 1,
    to: [
      ['Phone', 'completed'],
      ['This computer', 'completed'],
    ],
  },
];
const names = [
  'Harbour Bank',
  'Northline Rail',
  'Night watch',
  'City Library',
  'Ravi Menon',
  'Kite & Co. Accounts',
  'Ana Lindqvist',
  'Olga Petrova',
  'Jan Nowicki',
  'The Paper Mill',
  'Sea View School',
  'Dr Ilse Brandt',
  'Parcel desk',
];
const subjects = [
  'Your order has left',
  'Minutes of the meeting',
  'Door 3 was left open',
  'Reminder for tomorrow',
  'Re: the quote for the fence',
  'Statement for this month',
  'New sign-in to your account',
  'Photos from Saturday',
  'Your parcel waits at the desk',
  'Timetable change',
  'Call me when you land',
];
/** Destinations and states of generated mail, by number. */
const fates: Sketch['to'][] = [
  [['Phone', 'completed']],
  [
    ['Phone', 'completed'],
    ['This computer', 'completed'],
  ],
  [['This computer', 'completed']],
];

function sketch(number: number): Sketch & { ms: number } {
  const hand = byHand[number];
  if (hand) return { ...hand, ms: today(hand.at) };
  const pick = <T>(list: readonly T[], salt: number): T => list[(number * 7 + salt) % list.length] as T;
  const name = pick(names, 3);
  const silent = number % 5 === 3;
  const ms = today('10:12:33') - (number - byHand.length + 1) * 41 * MINUTE - ((number * 7919) % 23) * 1000;
  return {
    at: '',
    ms,
    name,
    address: `${name
      .toLowerCase()
      .replace(/[^a-z]+/g, '.')
      .replace(/\.$/, '')}@example.com`,
    subject: `${pick(subjects, number % 11)}${number % 3 === 0 ? ` (${number})` : ''}`,
    box: pick([HOME, WORK, CLUB], 1),
    sightings: number % 4 === 1 ? 2 + (number % 3) : 1,
    ...(silent
      ? { decision: 'silent' as const, reason: 'list-id contains "news"', rule: 'r3' }
      : { to: pick(fates, 0) ?? [] }),
  };
}

function notification(
  number: number,
  index: number,
  ms: number,
  to: NonNullable<Sketch['to']>[number],
): NotificationView {
  const [destination, status, code] = to;
  const done = status === 'completed' || status === 'dead' || status === 'uncertain';
  return {
    dispatch_key: keyOf(`d${index}`, number),
    destination,
    recipient: destination.toLowerCase(),
    status,
    reason: null,
    attempt: status === 'pending' ? 2 : 1,
    due_at: status === 'pending' ? time(today('14:35:00')) : null,
    completed_at: done ? time(ms + 900 + index * 500) : null,
    external_message_id: status === 'completed' && destination !== 'This computer' ? `tZ8kQ${number}` : null,
    last_error: code ? { code, detail: details[code] ?? 'HTTP 500' } : null,
  };
}
export const details: Record<string, string> = {
  temporary_unavailable: 'The server answered 503 Service Unavailable',
  no_answer: 'The connection was closed 30 s after the message had been sent',
  authentication_error: 'The server answered 403: {"error":"bot was blocked by the user"}',
};

/** The mail of a number; 0 is the newest. */
export function mail(number: number): HistoryRow {
  const one = sketch(number);
  const verdict: Verdict = 'new';
  return {
    message_key: keyOf('m', number),
    operation_key: keyOf('o', number),
    mailbox_id: one.box,
    from: one.address,
    from_name: one.name === one.address ? null : one.name,
    subject: one.subject,
    sent_at: time(one.ms - 400 - (number % 7) * 100),
    first_seen_at: time(one.ms),
    first_verdict: verdict,
    decision: one.decision ?? 'notify',
    reason: one.reason ?? (one.rule ? 'from contains "harbourbank"' : 'everything else'),
    reason_code: one.reason || one.rule ? null : 'everything_else',
    rule_id: one.rule ?? null,
    sightings: one.sightings,
    notifications: (one.to ?? []).map((to, index) => notification(number, index, one.ms, to)),
  };
}

/** The mail of the demo. */
export const demoMails = (): HistoryRow[] =>
  [
    ['14:31:20', 'Demo shop', 'Your parcel is on its way', 3],
    ['14:30:58', 'Demo bank', 'A new sign-in to your account', 2],
  ].map(([at, name, subject, sightings], index) => {
    const number = 0xf1000000 + index;
    const ms = today(String(at));
    return {
      ...mail(0),
      message_key: keyOf('m', number),
      operation_key: keyOf('o', number),
      mailbox_id: DEMO,
      from: 'demo@example.com',
      from_name: String(name),
      subject: String(subject),
      sent_at: null,
      first_seen_at: time(ms),
      reason: 'demo',
      reason_code: 'demo',
      rule_id: null,
      sightings: Number(sightings),
      notifications: [notification(number, 0, ms, ['This computer', 'completed'])],
    };
  });

/** When the second and later sightings came, after the first. */
export const lags = (number: number): number[] =>
  [1700, 3 * MINUTE + 37_000, 41 * MINUTE, 2 * HOUR].map((lag) => lag + (number % 5) * 300);
export const isFuture = (at: number): boolean => at > NOW;
