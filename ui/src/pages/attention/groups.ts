/** What is stuck, grouped by where and why. */
import type { AttentionRow } from '$lib/api/types';

export interface Group {
  key: string;
  destination: string;
  status: 'dead' | 'uncertain';
  code: string | null;
  rows: AttentionRow[];
}

/** Groups in the order of their newest; what is broken comes before what is only unsure. */
export function groupByCause(rows: readonly AttentionRow[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const code = row.last_error?.code ?? null;
    const key = `${row.status} ${row.destination} ${code}`;
    const group = groups.get(key) ?? { key, destination: row.destination, status: row.status, code, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  const rank = (group: Group) => (group.status === 'dead' ? 0 : 1);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}

/** What only the owner can put right at the destination itself. */
export const needsFix = (code: string | null): boolean =>
  code === 'authentication_error' || code === 'invalid_recipient' || code === 'invalid_payload';
