import { describe, expect, it } from 'vitest';
import { PAGE_ROWS, PagedList } from '$lib/api/paged.svelte';
import { Resource } from '$lib/api/resource.svelte';

/** Rows `total - 1` down to 0; the key is the number. */
function source(total: number) {
  const asked: (string | undefined)[] = [];
  const world = { total };
  const list = new PagedList<number>(
    (before, limit) => {
      asked.push(before);
      const from = before === undefined ? world.total - 1 : Number(before) - 1;
      return Promise.resolve(Array.from({ length: Math.min(limit, from + 1) }, (_, index) => from - index));
    },
    (row) => String(row),
  );
  return { list, asked, world };
}
const settle = () => new Promise((done) => setTimeout(done, 0));

describe('a list read by key', () => {
  it('asks for the next page by the key of the last row, once', async () => {
    const { list, asked } = source(1000);
    await list.restart();
    list.look(0, 90);
    list.look(0, 95);
    await settle();
    expect(asked).toEqual([undefined, String(1000 - PAGE_ROWS)]);
    expect(list.count).toBe(2 * PAGE_ROWS);
  });

  it('keeps few pages in memory and reads the others again where they are looked at', async () => {
    const { list } = source(1_000_000);
    await list.restart();
    for (let row = 0; row < 6000; row += PAGE_ROWS) {
      list.look(row, row + 60);
      await settle();
    }
    expect(list.count).toBeGreaterThan(6000);
    expect(list.at(2000), 'far rows are dropped').toBeUndefined();
    expect(list.at(0), 'the first page stays').toBe(999_999);
    list.look(2000, 2050);
    await settle();
    expect(list.at(2000), 'and come back the same').toBe(997_999);
  });

  it('counts newer rows without moving anything', async () => {
    const { list, world } = source(300);
    await list.restart();
    world.total = 302;
    await list.update();
    expect(list.fresh).toBe(2);
    expect(list.at(0)).toBe(299);
    await list.newest();
    expect(list.fresh).toBe(0);
    expect(list.at(0)).toBe(301);
  });

  it('knows the end, and an empty list', async () => {
    const few = source(3);
    await few.list.restart();
    expect([few.list.count, few.list.done]).toEqual([3, true]);
    const none = source(0);
    await none.list.restart();
    expect([none.list.count, none.list.done, none.list.ready]).toEqual([0, true, true]);
  });
});

describe('a resource', () => {
  it('drops an answer that was overtaken', async () => {
    const answers: ((value: string) => void)[] = [];
    const made = new Resource(() => new Promise<string>((done) => answers.push(done)));
    const first = made.load();
    const second = made.load();
    answers[1]?.('new');
    answers[0]?.('old');
    await Promise.all([first, second]);
    expect(made.data).toBe('new');
  });
});
