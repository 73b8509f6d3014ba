import { screen, waitFor, within } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import { keyOf } from '$lib/api/fake/clock';
import { called, open } from './window';

const button = (name: RegExp | string) => screen.findByRole('button', { name });
const rows = () => screen.findAllByRole('option');

describe('history', () => {
  it('the arrows walk, Enter opens the life of a mail, Esc closes it', async () => {
    const { user } = await open('history');
    await rows();
    screen.getByRole('listbox').focus();
    await user.keyboard('{ArrowDown}{Enter}');
    const panel = await screen.findByRole('complementary', { name: 'Mail from Northline Rail' });
    await within(panel).findByText('Arrived 2 times, told once.');
    expect(within(panel).getByText('JMAP push')).toBeTruthy();
    expect(within(panel).getByText('Decided to ring')).toBeTruthy();
    expect(within(panel).getByText(/Accepted as/)).toBeTruthy();
    await user.keyboard('{ArrowDown}');
    await screen.findByRole('complementary', { name: 'Mail from Ewa Zielińska' });
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('complementary')).toBeNull());
  });

  it('a search asks the engine, and what matches nothing can be cleared', async () => {
    const { user, host } = await open('history');
    await rows();
    await user.keyboard('{Control>}f{/Control}');
    expect(document.activeElement).toBe(screen.getByRole('searchbox'));
    await user.keyboard('ladder zzz');
    await screen.findByText('Nothing matches “ladder zzz”.');
    expect(called(host, 'history.list').at(-1)).toMatchObject({ text: 'ladder zzz' });
    await user.click(await button('Clear filters'));
    await rows();
  });

  it('draws only what is seen of a million mails, and reads the next page by key', async () => {
    const { host } = await open('history');
    await rows();
    expect(screen.getAllByRole('option').length).toBeLessThan(60);
    await waitFor(() => expect(called(host, 'history.list').length).toBeGreaterThan(0));
    expect(called(host, 'history.list')[0]).toEqual({ limit: 100 });
  });

  it('what is not sure is marked as delivered', async () => {
    const { user, host } = await open(`history/${keyOf('m', 7)}`);
    await screen.findByText('Board room may or may not know.');
    await user.click(await button('Mark as delivered'));
    await screen.findByText('Marked as delivered.');
    expect(called(host, 'notification.mark_delivered')).toHaveLength(1);
  });

  it('the raw answer of a server is shown as text', async () => {
    const { container } = await open(`history/${keyOf('m', 9)}`);
    await screen.findByText('On call was not told.');
    expect(container.textContent).toContain('{"error":"bot was blocked by the user"}');
  });
});

describe('a mail of the history', () => {
  const life = (number: number) => `history/${keyOf('m', number)}`;

  it('is marked as read, and that is in its life', async () => {
    const { user, host } = await open(life(0));
    await user.click(await button('Mark read'));
    await screen.findByText('Marked as read.');
    expect(called(host, 'mail.mark_read')).toEqual([{ message_key: keyOf('m', 0) }]);
    await screen.findByText('You marked it as read');
    expect((await button('Mark read')).hasAttribute('disabled'), 'once is enough').toBe(true);
  });

  it('says why it could not be marked', async () => {
    const { container } = await open(life(2));
    await screen.findByText('It could not be marked as read');
    expect(container.textContent).toContain('The server refused the name or the password.');
    expect(container.textContent, 'the raw answer is there too').toContain('AUTHENTICATIONFAILED');
  });

  it('is opened by the link of its mailbox, and without one not at all', async () => {
    const { user, host } = await open(life(2));
    await user.click(await button('Open'));
    await waitFor(() => expect(called(host, 'link.open')).toHaveLength(1));
    expect(called(host, 'link.open')[0]).toMatchObject({
      url: expect.stringMatching(/^https:\/\/mail\.example\.com\/#search\/rfc822msgid:/) as unknown,
    });
    host.world.mailboxes = host.world.mailboxes.map((one) => ({ ...one, link_template: null }));
    host.change(['history']);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Open' })).toBeNull());
  });

  it('is not offered to be marked where no IMAP mailbox has it, and says that it is invented', async () => {
    const { container } = await open(life(0xf1000000), 'demo');
    await screen.findByText('Arrived 3 times, told once.');
    expect(screen.queryByRole('button', { name: 'Mark read' })).toBeNull();
    expect(within(container.querySelector('aside') as HTMLElement).getByText('Demo, invented mail')).toBeTruthy();
  });

  it('shows the folder of a report, not its number in it', async () => {
    const { container } = await open(life(0));
    await screen.findByText('Arrived 3 times, told once.');
    expect(container.textContent).not.toContain('UIDVALIDITY');
  });

  it('that nobody was told of can be sent to another destination', async () => {
    const { user, host } = await open(life(9));
    const panel = await screen.findByRole('complementary');
    await user.click(await within(panel).findByRole('button', { name: 'More' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Send to Phone' }));
    await waitFor(() => expect(called(host, 'notification.notify_to')).toHaveLength(1));
    expect(called(host, 'notification.notify_to')[0]).toEqual({
      message_key: keyOf('m', 9),
      destinations: ['dsphone0'],
    });
  });
});

describe('where something stands in the way', () => {
  it('a program that has ended is said to be started, and pages keep what they have', async () => {
    const { host } = await open('status');
    await screen.findByText('Watching 3 mailboxes.');
    host.isGone = true;
    host.change(['status', 'mailboxes']);
    await screen.findByText('Nothing is being watched right now.');
    expect(screen.getByText('mira@example.org')).toBeTruthy();
    host.isGone = false;
    host.change(['status', 'mailboxes']);
    await waitFor(() => expect(screen.queryByText('Nothing is being watched right now.')).toBeNull());
  });

  it('a desktop without a tray is spoken of once, and on General for good', async () => {
    const says = /This desktop shows no tray icon\./;
    const { user } = await open('status', 'notray');
    await screen.findByText(says);
    await user.click(await button('Close'));
    await waitFor(() => expect(screen.queryByText(says)).toBeNull());
    window.location.hash = '#/general';
    await screen.findByText(says);
    window.location.hash = '#/status';
    await screen.findByText('Watching 3 mailboxes.');
    expect(screen.queryByText(says), 'it was read already').toBeNull();
  });

  it('the banner is not shown where its act leads', async () => {
    await open('mailboxes/mbchoir0', 'trouble');
    await button('Sign in');
    expect(screen.queryByText(/New mail to mira@choir\.example\.net is not seen/)).toBeNull();
  });
});

describe('the link of a mailbox', () => {
  it('is checked, and stored with the rest', async () => {
    const { user, host } = await open('mailboxes/mbhome00');
    await user.click(await screen.findByText('Opening a mail'));
    const field = await screen.findByRole('textbox', { name: /^Link to a mail/ });
    await user.click(field);
    await user.paste('mail.example.org');
    await user.click(await button('Save'));
    await screen.findByText(/A link begins with https:/);
    expect(called(host, 'mailbox.set')).toEqual([]);
    await user.clear(field);
    await user.click(field);
    await user.paste('https://m.example/{message_id}');
    await user.click(await button('Save'));
    await waitFor(() => expect(called(host, 'mailbox.set')).toHaveLength(1));
    expect(called(host, 'mailbox.set')[0]).toMatchObject({ link_template: 'https://m.example/{message_id}' });
  });

  it('is taken away by emptying it', async () => {
    const { user, host } = await open('mailboxes/mbwork00');
    await user.clear(await screen.findByRole('textbox', { name: /^Link to a mail/ }));
    await user.click(await button('Save'));
    await waitFor(() => expect(called(host, 'mailbox.set')).toHaveLength(1));
    expect(called(host, 'mailbox.set')[0]).toMatchObject({ link_template: '' });
  });
});

describe('duplicates', () => {
  it('N notifies anyway, and a reason narrows', async () => {
    const { user, host } = await open('duplicates');
    const first = await waitFor(() => {
      const row = screen.getAllByText('Harbour Bank')[0]?.closest<HTMLElement>('[data-index="0"]');
      if (!row) throw new Error('not drawn yet');
      return row;
    });
    first.focus();
    await user.keyboard('n');
    await waitFor(() => expect(called(host, 'notification.notify_again')).toEqual([{ message_key: keyOf('m', 0) }]));
    await user.click(await button(/Same content/));
    await waitFor(() => expect(called(host, 'duplicates.list').at(-1)).toMatchObject({ reason: 'same_content' }));
  });
});

describe('attention', () => {
  const stuck = async (text: string) => {
    const row = (await screen.findByText(text)).closest<HTMLElement>('[data-stuck]');
    if (!row) throw new Error(`no row ${text}`);
    return row;
  };

  it('R retries the row that has the focus', async () => {
    const { user, host } = await open('attention');
    (await stuck('Your results are ready')).focus();
    await user.keyboard('r');
    await screen.findByText('It is being sent again.');
    expect(called(host, 'notification.retry')).toEqual([{ id: keyOf('d0', 9) }]);
    await waitFor(() => expect(screen.queryByText('Your results are ready')).toBeNull());
  });

  it('dismissing asks first, with the focus on the safe answer', async () => {
    const { user, host } = await open('attention');
    (await stuck('Your results are ready')).focus();
    await user.keyboard('{Delete}');
    await screen.findByRole('alertdialog');
    expect(document.activeElement?.textContent).toBe('Keep it');
    await user.keyboard('{Enter}');
    expect(called(host, 'notification.dismiss')).toEqual([]);
    (await stuck('Your results are ready')).focus();
    await user.keyboard('{Delete}');
    await user.click(await button('Dismiss'));
    await waitFor(() => expect(called(host, 'notification.dismiss')).toHaveLength(1));
  });

  it('everything since a time is retried', async () => {
    const { user, host } = await open('attention');
    await user.click(await button('Retry all since…'));
    await user.click(await button('Retry all'));
    await screen.findByText('1 is being sent again.');
    expect(called(host, 'notification.redrive')).toEqual([{ since: '2026-05-13T14:31:00.000Z' }]);
  });
});

describe('set-up', () => {
  it('leads from an address to the first ring, and remembers nothing but what is stored', async () => {
    const { user, host } = await open('', 'empty');
    await user.type(await screen.findByRole('textbox', { name: 'Your e-mail address' }), 'mira@example.org{Enter}');
    await screen.findByText('We found your server.');
    await user.type(screen.getByLabelText('Password'), 'wrong{Enter}');
    await screen.findByText('The server refused this password.');
    await user.clear(screen.getByLabelText('Password'));
    await user.type(screen.getByLabelText('Password'), 'right{Enter}');
    await user.click(await screen.findByRole('checkbox', { name: /Invoices/ }));
    await user.click(await button('Start watching'));
    await screen.findByRole('heading', { name: 'Where should it ring?' });
    expect(called(host, 'mailbox.add')[0]).toMatchObject({
      email: 'mira@example.org',
      folders: ['INBOX', 'Invoices'],
      test: true,
    });
    await user.click(await button('Continue'));
    await user.click(await button('Send the test'));
    await screen.findByText('This computer took it.');
    await user.click(await button('Finish'));
    await screen.findByRole('heading', { name: /Watching 1 mailbox\./ });
  });

  it('says plainly where a provider takes only sign-in on its page', async () => {
    const { user } = await open('mailboxes/add');
    await user.type(await screen.findByRole('textbox', { name: 'Your e-mail address' }), 'mira@outlook.com{Enter}');
    await screen.findByText('Outlook takes no passwords from mail programs.');
    expect(screen.queryByLabelText('Password')).toBeNull();
  });

  it('takes a certificate that nobody vouches for only when it was looked at', async () => {
    const { user, host } = await open('mailboxes/add');
    await user.type(await screen.findByRole('textbox', { name: 'Your e-mail address' }), 'mira@proton.me{Enter}');
    await screen.findByText('Nobody vouches for the certificate of 127.0.0.1.');
    await user.type(screen.getByLabelText('Password from Bridge'), 'right');
    expect((await button('Sign in')).hasAttribute('disabled')).toBe(true);
    await user.click(await button('Trust this certificate'));
    await user.click(await button('Sign in'));
    await user.click(await button('Start watching'));
    await waitFor(() => expect(called(host, 'mailbox.add')).toHaveLength(1));
    expect(called(host, 'mailbox.add')[0]).toMatchObject({ server: { port: 1143, pin: 'a0'.repeat(32) } });
  });

  it('is not over with a demo mailbox, which goes as it came', async () => {
    const { user, host } = await open('', 'empty');
    await user.click(await button('Try it with a demo mailbox'));
    await screen.findByText('The demo mailbox is running.');
    expect(called(host, 'demo.start')).toHaveLength(1);
    location.hash = '#/setup';
    await screen.findByRole('textbox', { name: 'Your e-mail address' });
    location.hash = '#/mailboxes';
    await user.click(await button('More'));
    await user.click(await screen.findByRole('menuitem', { name: /Remove/ }));
    await screen.findByText('Its invented mail goes from the history too.');
    expect(called(host, 'mailbox.removal')).toHaveLength(1);
    await user.click(await button('Remove mailbox'));
    await screen.findByText('Add a mailbox to start.');
  });

  it('asks for the server where none answers', async () => {
    const { user } = await open('mailboxes/add');
    await user.type(await screen.findByRole('textbox', { name: 'Your e-mail address' }), 'mira@nowhere.example{Enter}');
    await screen.findByText('Where is your server?');
    expect(screen.getByRole('textbox', { name: 'Server' })).toBeTruthy();
  });
});

describe('destinations', () => {
  it('are added after a test that passed, or with the test waived', async () => {
    const { user, host } = await open('destinations/add/ntfy');
    await user.click(await button('Send a test'));
    await screen.findByText('It took the test.');
    await user.click(await button('Add destination'));
    await waitFor(() => expect(called(host, 'destination.add')).toHaveLength(1));
    expect(called(host, 'destination.add')[0]).toMatchObject({ kind: 'ntfy', test: false });
  });

  it('a test that fails says so, and a change after a test asks for another', async () => {
    const { user } = await open('destinations/add/ntfy');
    const server = await screen.findByRole('textbox', { name: 'Server' });
    await user.clear(server);
    await user.type(server, 'https://unreachable.example');
    await user.click(await button('Send a test'));
    await screen.findByText('The test did not get through.');
    await user.clear(server);
    await user.type(server, 'https://ntfy.example.org');
    await user.click(await button('Send a test'));
    await screen.findByText('It took the test.');
    await user.type(server, '/sub');
    await button('Send a test');
    expect(screen.queryByText('It took the test.')).toBeNull();
  });

  it('a field that does not fit is marked and takes the focus', async () => {
    const { user, host } = await open('destinations/add/webhook');
    const address = await screen.findByRole('textbox', { name: 'Address' });
    await user.type(address, 'nothing');
    await user.click(await button('Add without a test'));
    await screen.findByText('An address begins with https:// or http://.');
    await waitFor(() => expect(document.activeElement).toBe(address));
    expect(called(host, 'destination.add')).toEqual([]);
  });
});

describe('rules', () => {
  it('Alt and an arrow move a rule, and the focus goes with it', async () => {
    const { user, host } = await open('rules');
    const rule = (await screen.findByText(/Mailing list contains/)).closest<HTMLElement>('[data-rule]');
    rule?.focus();
    await user.keyboard('{Alt>}{ArrowUp}{/Alt}');
    await screen.findByText('Rule 2 is now rule 1.');
    expect(called(host, 'rule.move')).toEqual([{ id: 'r3', before: 'r1' }]);
    await waitFor(() => expect((document.activeElement as HTMLElement).dataset['rule']).toBe('r3'));
  });

  it('are written as conditions the engine reads, and tried before they are saved', async () => {
    const { user, host } = await open('rules/add');
    await user.type(await screen.findByRole('textbox', { name: 'Value' }), 'say "hi"');
    await user.click(screen.getByRole('checkbox', { name: 'Phone' }));
    await user.click(await button('Try on the last 50 mails'));
    await screen.findByText(/of the last 50 mails would have gone another way/);
    await user.click(await button('Save rule'));
    await waitFor(() => expect(called(host, 'rule.add')).toHaveLength(1));
    expect(called(host, 'rule.add')[0]).toMatchObject({ conditions: ['from contains "say \\"hi\\""'] });
  });
});

describe('the window', () => {
  it('Ctrl and a digit go to a page, whose heading takes the focus', async () => {
    const { user } = await open('status');
    await user.keyboard('{Control>}4{/Control}');
    const heading = await screen.findByRole('heading', { name: /Attention/, level: 1 });
    await waitFor(() => expect(document.activeElement).toBe(heading));
  });

  it('Ctrl and / open every shortcut, Esc gives the focus back', async () => {
    const { user } = await open('status');
    const check = await button('Check now');
    check.focus();
    await user.keyboard('{Control>}/{/Control}');
    await screen.findByRole('dialog', { name: 'Keyboard' });
    await user.keyboard('{Escape}');
    await waitFor(() => expect(document.activeElement).toBe(check));
  });

  it('F5 checks every mailbox now', async () => {
    const { user, host } = await open('status');
    await user.keyboard('{F5}');
    await screen.findByText('All mailboxes were checked.');
    expect(called(host, 'watch.check_now')).toHaveLength(1);
  });

  it('a pause shows in the banner, and is ended there', async () => {
    const { user } = await open('status');
    await user.click(await button('Pause'));
    await user.keyboard('{Enter}');
    const banner = (await screen.findByText('Paused until 15:01.', { selector: 'b' })).closest<HTMLElement>('.banner');
    await user.click(within(banner as HTMLElement).getByRole('button', { name: 'Resume' }));
    await waitFor(() => expect(screen.queryByText('Paused until 15:01.', { selector: 'b' })).toBeNull());
  });

  it('language and theme are in force at once', async () => {
    const { user } = await open('general');
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Language' }), 'pl');
    await screen.findByRole('heading', { name: 'Ogólne', level: 1 });
    await user.click(screen.getByRole('radio', { name: 'Ciemny' }));
    await waitFor(() => expect(document.documentElement.dataset['theme']).toBe('dark'));
  });

  it('a refusal stands beside what asked for it', async () => {
    const { user, host } = await open('destinations');
    await screen.findByText('Board room');
    host.refusals.set('destination.test', {
      code: 'test_failed',
      consequence: 'c',
      cause: 'the raw cause',
      next_step: 'n',
    });
    await user.click((await screen.findAllByRole('button', { name: 'Test' }))[0] as HTMLElement);
    await screen.findByText('This computer did not take the test.');
  });
});
