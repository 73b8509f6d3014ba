/**
 * A long list read page by page by key. Only pages near what is looked at keep their rows; of the others the key
 * stays, so that they can be read again.
 */
import { untrack } from 'svelte';
import { asFault, type Fault } from './fault';

export const PAGE_ROWS = 100;
/** Pages whose rows stay in memory. */
const PAGES_KEPT = 24;
/** Rows that are offered for scrolling; older ones are reached by a time filter. */
export const ROWS_MAX = 200_000;
const LATE_MS = 150;

interface Part<T> {
  before: string | undefined;
  rows: T[] | undefined;
  count: number;
}

export class PagedList<T> {
  /** Rows known so far. */
  count = $state(0);
  /** There is nothing older. */
  done = $state(false);
  error = $state.raw<Fault | undefined>();
  late = $state(false);
  /** Rows that came since and are not shown yet. */
  fresh = $state(0);
  /** Grows with every change of rows: what draws them reads it. */
  version = $state(0);
  #parts: Part<T>[] = [];
  #busy = new Set<number>();
  #round = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #fetch: (before: string | undefined, limit: number) => Promise<T[]>;
  readonly #key: (row: T) => string;

  constructor(fetch: (before: string | undefined, limit: number) => Promise<T[]>, key: (row: T) => string) {
    this.#fetch = fetch;
    this.#key = key;
  }

  /** The first answer has come. */
  get ready(): boolean {
    return this.count > 0 || this.done;
  }

  /** Forgets everything and begins at the newest. */
  async restart(): Promise<void> {
    this.#round++;
    this.#parts = [];
    this.#busy.clear();
    this.count = 0;
    this.done = false;
    this.fresh = 0;
    this.error = undefined;
    this.version++;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.late = !this.ready && !this.error), LATE_MS);
    await this.#read(0);
  }

  /** Begins at the newest again; what is there stays until the answer comes. */
  async newest(): Promise<void> {
    const round = ++this.#round;
    this.#busy.clear();
    try {
      const rows = await this.#fetch(undefined, PAGE_ROWS);
      if (round !== this.#round) return;
      this.#parts = [];
      this.#put(0, undefined, rows);
      this.fresh = 0;
      this.error = undefined;
    } catch (error) {
      if (round === this.#round) this.error = asFault(error);
    }
  }

  /** Reads the rows that are looked at again in place. Newer ones are only counted, so that nothing moves. */
  async update(): Promise<void> {
    if (!this.ready) return this.restart();
    if (this.count === 0) return this.newest();
    const round = this.#round;
    const inMemory = [...this.#parts.entries()].filter(([, part]) => part.rows);
    try {
      for (const [number, part] of inMemory) {
        const rows = await this.#fetch(part.before, PAGE_ROWS);
        if (round !== this.#round) return;
        this.#patch(part, rows, number === 0);
      }
      this.version++;
    } catch (error) {
      if (round === this.#round) this.error = asFault(error);
    }
  }

  /** The row at a place; undefined while it is not there, which also asks for it. */
  at(index: number): T | undefined {
    void this.version;
    return this.#parts[Math.floor(index / PAGE_ROWS)]?.rows?.[index % PAGE_ROWS];
  }

  /** The place of a key among the rows in memory; -1: it is not there. */
  indexOf(key: string): number {
    for (const [number, part] of this.#parts.entries()) {
      const place = part.rows?.findIndex((row) => this.#key(row) === key) ?? -1;
      if (place >= 0) return number * PAGE_ROWS + place;
    }
    return -1;
  }

  /** Makes sure of the rows that are looked at, and of those that come next. */
  look(first: number, last: number): void {
    const from = Math.max(0, Math.floor(first / PAGE_ROWS));
    const to = Math.floor((last + PAGE_ROWS / 2) / PAGE_ROWS);
    for (let number = from; number <= Math.min(to, this.#parts.length); number++)
      void untrack(() => this.#read(number));
    if (this.#parts.length > PAGES_KEPT) this.#drop(from, to);
  }

  async #read(number: number): Promise<void> {
    const known = this.#parts[number];
    if (known?.rows || this.#busy.has(number) || (!known && (this.done || number * PAGE_ROWS >= ROWS_MAX))) return;
    const previous = this.#parts[number - 1];
    const lastRow = previous?.rows?.at(-1);
    const before = known ? known.before : lastRow && this.#key(lastRow);
    if (number > 0 && before === undefined) return;
    const round = this.#round;
    this.#busy.add(number);
    try {
      const rows = await this.#fetch(before, PAGE_ROWS);
      if (round !== this.#round) return;
      this.#put(number, before, rows);
      this.error = undefined;
    } catch (error) {
      if (round === this.#round) this.error = asFault(error);
    } finally {
      if (round === this.#round) {
        this.#busy.delete(number);
        clearTimeout(this.#timer);
        this.late = false;
      }
    }
  }

  #put(number: number, before: string | undefined, rows: T[]): void {
    this.#parts[number] = { before, rows, count: rows.length };
    if (number === this.#parts.length - 1) this.done = rows.length < PAGE_ROWS;
    this.count = this.#parts.reduce((sum, part) => sum + part.count, 0);
    this.version++;
  }

  #patch(part: Part<T>, rows: T[], isFirst: boolean): void {
    const now = new Map(rows.map((row) => [this.#key(row), row]));
    const first = part.rows?.[0];
    if (isFirst && first) {
      const place = rows.findIndex((row) => this.#key(row) === this.#key(first));
      this.fresh = place < 0 ? rows.length : place;
    }
    part.rows = part.rows?.map((row) => now.get(this.#key(row)) ?? row);
  }

  #drop(from: number, to: number): void {
    const half = PAGES_KEPT / 2;
    for (const [number, part] of this.#parts.entries()) {
      if (number > 0 && (number < from - half || number > to + half)) part.rows = undefined;
    }
  }
}
