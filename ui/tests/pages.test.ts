import { screen, waitFor } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import type { FakeMode } from '$lib/api/fake/host';
import { en } from '$lib/words/en';
import { faults } from './axe';
import { open } from './window';

/** Address, state of the host, and what must then be read. */
const states: [place: string, mode: FakeMode, says: RegExp][] = [
  ['status', 'full', /Watching 3 mailboxes\./],
  ['status', 'trouble', /New mail to mira@choir\.example\.net is not seen\./],
  ['status', 'empty', /4 steps are left\./],
  ['status', 'demo', /Demodemo@example\.com/],
  ['status', 'offline', /This computer has been offline since/],
  ['status', 'paused', /Mail is collected and rings then\./],
  ['status', 'locked', /Passwords cannot be read\./],
  ['status', 'down', /It is being started\./],
  ['history', 'demo', /DemoYour parcel is on its way/],
  ['status', 'error', /The data cannot be read or written\./],
  ['history', 'full', /Harbour Bank/],
  ['history', 'empty', /No mail since you started watching\./],
  ['history', 'error', /The data cannot be read or written\./],
  ['duplicates', 'full', /214 rings in 14 days, none of them twice\./],
  ['duplicates', 'empty', /No duplicates yet\./],
  ['duplicates', 'error', /The data cannot be read or written\./],
  ['attention', 'full', /On call was not told about 2 mails\./],
  ['attention', 'empty', /Nothing is stuck\./],
  ['attention', 'error', /The data cannot be read or written\./],
  ['mailboxes', 'full', /Ringonce only reads\./],
  ['mailboxes', 'empty', /Add a mailbox to start\./],
  ['mailboxes', 'error', /The data cannot be read or written\./],
  ['mailboxes/add', 'full', /Which mailbox\?/],
  ['mailboxes/mbwork00', 'full', /Which folders should ring\?/],
  ['destinations', 'full', /Board room/],
  ['destinations', 'empty', /Without a destination you will not be told/],
  ['destinations', 'error', /The data cannot be read or written\./],
  ['destinations/add', 'full', /Where should it ring\?/],
  ['destinations/add/ntfy', 'full', /Scan it with a phone/],
  ['destinations/dsphone0', 'full', /Priority|More settings/],
  ['rules', 'full', /Everything else: ring/],
  ['rules', 'empty', /nobody can be told yet/],
  ['rules', 'error', /The data cannot be read or written\./],
  ['rules/add', 'full', /If all of this is so/],
  ['general', 'full', /Keep history for/],
  ['setup', 'empty', /One mail, one ring\./],
  ['setup/destinations', 'empty', /A phone rings when you are away\./],
  ['setup/test', 'full', /Let it ring\./],
];

describe('every page in every state', () => {
  for (const [place, mode, says] of states) {
    it(`${place}, ${mode}: is drawn and can be used by everybody`, async () => {
      const { container } = await open(place, mode);
      await waitFor(() => expect(container.textContent).toMatch(says));
      expect(screen.getAllByRole('heading', { level: 1 }), 'one heading of the first level').toHaveLength(1);
      expect(screen.getAllByRole('main'), 'one main').toHaveLength(1);
      expect(await faults(document.body)).toEqual([]);
    });
  }

  for (const place of ['status', 'history', 'duplicates', 'attention', 'mailboxes', 'destinations', 'rules']) {
    it(`${place}, slow: nothing at first, then the shape of what comes`, async () => {
      const { container } = await open(place, 'loading');
      expect(screen.queryByRole('status', { name: 'Loading' })).toBeNull();
      await waitFor(() => screen.getByRole('status', { name: 'Loading' }));
      expect(await faults(container)).toEqual([]);
    });
  }

  for (const language of ['ru', 'pl']) {
    for (const place of [
      'status',
      'history',
      'duplicates',
      'attention',
      'mailboxes',
      'destinations',
      'rules',
      'general',
    ]) {
      it(`${place} is said in ${language}`, async () => {
        const { container } = await open(place, 'full', language);
        const word = language === 'ru' ? /Состояние/ : /Stan/;
        await waitFor(() => expect(container.textContent).toMatch(word));
        expect(document.documentElement.lang).toBe(language);
        const shown = Object.keys(en).filter((key) => container.textContent.includes(key));
        expect(shown, 'no key stands where words should').toEqual([]);
      });
    }
  }
});
