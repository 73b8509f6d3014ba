// Pictures of every page: light and dark, each language, wide and narrow, full and empty, into `shots/` (not kept).
// Run after a build: npm run shots [-- 'pattern of a name, such as history.*-960-en']. Needs a Chromium: CHROMIUM=/usr/bin/chromium.
import { createReadStream, existsSync, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { chromium } from 'playwright-core';

const dist = new URL('../dist/', import.meta.url).pathname;
const out = new URL('../shots/', import.meta.url).pathname;
const only = new RegExp(process.argv[2] ?? '');
/** A headless browser knows no font of the system: the one the pictures are to have. */
const font = process.env.FONT;
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

const server = createServer((request, response) => {
  const path = join(dist, new URL(request.url, 'http://localhost').pathname);
  const file = existsSync(path) && statSync(path).isFile() ? path : join(dist, 'index.html');
  response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(response);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}/`;

const click = (name) => async (page) => page.getByRole('button', { name }).first().click();
const choose = (name) => async (page) => {
  await page
    .getByRole('button', { name: /^(More|Ещё|Więcej)$/ })
    .last()
    .click();
  await page.getByRole('menuitem', { name }).first().waitFor();
};
const firstMail = async (page) => page.locator('[role=option]').first().click();
const mailAt = (number) => async (page) => page.locator('[role=option]').nth(number).click();
const signIn = async (page) => {
  await page.locator('input[type=email]').fill('mira.novak@example.com');
  await page.keyboard.press('Enter');
  await page.locator('input[type=password]').waitFor();
};
const folders = async (page) => {
  await signIn(page);
  await page.locator('input[type=password]').fill('a long password');
  await page.keyboard.press('Enter');
  await page.locator('input[type=checkbox]').first().waitFor();
};
const wrong = async (page) => {
  await signIn(page);
  await page.locator('input[type=password]').fill('wrong');
  await page.keyboard.press('Enter');
  await page.locator('.bad').waitFor();
};
const nothing = async (page) => {
  await page.locator('input[type=search]').fill('zzz');
  await page.locator('.empty').waitFor();
};
const toEnd = async (page) => page.locator('.body').evaluate((body) => body.scrollTo(0, body.scrollHeight));
const remove = async (page) => {
  await choose(/^(Remove|Удалить|Usuń)/)(page);
  await page.getByRole('menuitem', { name: /^(Remove|Удалить|Usuń)/ }).click();
  await page.getByRole('alertdialog').waitFor();
};
const help = async (page) => {
  await page.keyboard.press('Control+/');
  await page.locator('dialog').waitFor();
};
const submit = async (page) => page.locator('button[type=submit]').click();
const pages = [
  ['status', 'full', 'status'],
  ['status-trouble', 'trouble', 'status'],
  ['status-demo', 'demo', 'status'],
  ['status-offline', 'offline', 'status'],
  ['status-paused', 'paused', 'status'],
  ['status-locked', 'locked', 'status'],
  ['status-notray', 'notray', 'status'],
  ['history-list', 'full', 'history'],
  ['history', 'full', 'history', firstMail],
  ['history-read', 'full', 'history', mailAt(2)],
  ['history-unsure', 'full', 'history', mailAt(7)],
  ['history-dead', 'full', 'history', mailAt(9)],
  ['history-silent', 'full', 'history', mailAt(5)],
  ['history-demo', 'demo', 'history', firstMail],
  ['history-filter', 'full', 'history', click(/^(Filters|Фильтры|Filtry)$/)],
  ['history-nothing', 'full', 'history', nothing],
  ['duplicates', 'full', 'duplicates'],
  ['attention', 'full', 'attention'],
  ['attention-since', 'full', 'attention', click(/^(Retry all since|Повторить все с|Ponów wszystkie od)/)],
  ['mailboxes', 'trouble', 'mailboxes'],
  ['mailboxes-menu', 'full', 'mailboxes', choose(/./)],
  ['mailbox-add', 'full', 'mailboxes/add'],
  ['mailbox-add-server', 'full', 'mailboxes/add', wrong],
  ['mailbox-add-folders', 'full', 'mailboxes/add', folders],
  ['mailbox-edit', 'full', 'mailboxes/mbwork00'],
  ['mailbox-edit-end', 'full', 'mailboxes/mbwork00', toEnd],
  ['mailbox-signin', 'trouble', 'mailboxes/mbchoir0'],
  ['mailbox-remove', 'full', 'mailboxes', remove],
  ['destinations', 'full', 'destinations'],
  ['destination-kinds', 'full', 'destinations/add'],
  ['destination-add', 'full', 'destinations/add/ntfy', submit],
  ['destination-edit', 'full', 'destinations/dsphone0'],
  ['rules', 'full', 'rules', click(/50/)],
  ['rule-add', 'full', 'rules/add'],
  ['general', 'full', 'general'],
  ['general-end', 'notray', 'general', toEnd],
  ['welcome', 'empty', 'setup'],
  ['setup-destinations', 'empty', 'setup/destinations'],
  ['setup-test', 'full', 'setup/test', async (page) => page.locator('.btn.primary').click()],
  ['empty-status', 'empty', 'status'],
  ['empty-history', 'empty', 'history'],
  ['empty-duplicates', 'empty', 'duplicates'],
  ['empty-attention', 'empty', 'attention'],
  ['empty-mailboxes', 'empty', 'mailboxes'],
  ['empty-destinations', 'empty', 'destinations'],
  ['empty-rules', 'empty', 'rules'],
  ['error-status', 'error', 'status'],
  ['error-down', 'down', 'status'],
  ['error-history', 'error', 'history'],
  ['loading-status', 'loading', 'status'],
  ['loading-history', 'loading', 'history'],
  ['help', 'full', 'history', help],
];

mkdirSync(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const problems = [];
const variants = [
  ...[960, 640].flatMap((width) =>
    ['en', 'ru', 'pl'].flatMap((lang) => ['light', 'dark'].map((theme) => ({ theme, lang, width, height: 640 }))),
  ),
  { theme: 'dark', lang: 'en', width: 480, height: 640 },
];
for (const { theme, lang, width, height } of variants) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce', timezoneId: 'UTC' });
  for (const [name, fake, path, act] of pages) {
    const file = `${name}-${width}-${lang}-${theme}`;
    if (!only.test(file)) continue;
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(`${file}: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && problems.push(`${file}: ${message.text()}`));
    page.setDefaultTimeout(8000);
    await page.goto(`${base}?fake=${fake}&lang=${lang}&theme=${theme}#/${path}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.waitForTimeout(fake === 'loading' ? 400 : 120);
    try {
      await act?.(page);
    } catch (error) {
      problems.push(`${file}: ${error.message.split('\n')[0]}`);
    }
    if (font) await page.evaluate((name) => document.documentElement.style.setProperty('--font', name), font);
    await page.waitForTimeout(100);
    // Words that do not fit where nothing says that they may be cut.
    const cut = await page.evaluate(() => {
      const wide = document.documentElement.scrollWidth > window.innerWidth ? ['the page scrolls sideways'] : [];
      const buttons = [...document.querySelectorAll('button, .btn, h1, h2, th, label')]
        .filter(
          (e) => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).position !== 'absolute',
        )
        .filter(
          (e) =>
            !e.closest('.sr') &&
            getComputedStyle(e).visibility !== 'hidden' &&
            getComputedStyle(e).overflow !== 'visible',
        )
        .map((e) => `cut: ${e.textContent.trim().slice(0, 40)}`);
      return [...wide, ...buttons];
    });
    problems.push(...cut.map((text) => `${file}: ${text}`));
    await page.screenshot({ path: join(out, `${file}.png`), timeout: 8000 });
    await page.close();
  }
  await context.close();
}
await browser.close();
server.close();
for (const problem of problems) console.log(problem);
console.log(`${problems.length} problems`);
