import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Locator, Page, Response } from 'playwright-core';
import { chromiumPath, startBrowser } from './browser.ts';

const MAX_TABS = 300;
/** Characters of the page that the failure of a test shows. */
const SHOWN_TEXT = 3000;

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** In the page: views that ask every five seconds ask every half a second, as a test waits for what they show. */
const IMPATIENCE = `{
  const wait = setTimeout;
  window.setTimeout = (call, ms, ...more) => wait(call, ms === 5000 ? 500 : ms, ...more);
}`;

/** A page of Chromium that is new for each test of a `describe`; `page` is there while a test runs. */
export interface ConsolePage {
  readonly page: Page;
  /** An error of the page that the test has expected. */
  forgive(): void;
  /** Presses the key until the focus is there. */
  tabTo(locator: Locator, key?: string): Promise<void>;
  /** Nothing is in the way of people who do not see, hear or move as others do. By default, in light and in dark colours. */
  isAccessible(schemes?: readonly ('light' | 'dark')[]): Promise<void>;
}

/** Fails when an answer of the worker does not match its schema. */
export type CheckAnswer = (method: string, url: string, status: number, body: unknown) => void;

/** Call this within a `describe`: its tests are skipped where there is no Chromium. */
export function consolePage(check: CheckAnswer, options: BrowserContextOptions = {}): ConsolePage {
  let browser: Browser | undefined;
  let page: Page | undefined;
  const problems: string[] = [];
  const open = (): Page => {
    assert.ok(page !== undefined, 'the page is there within a test');
    return page;
  };

  before(async function () {
    const path = chromiumPath();
    if (path === undefined) {
      console.log('    (no Chromium: the console is not tested)');
      this.skip();
    }
    browser = await startBrowser(path);
  });

  after(async () => {
    await browser?.close();
  });

  beforeEach(async () => {
    page = await browser?.newPage(options);
    await page?.addInitScript(IMPATIENCE);
    problems.length = 0;
    page?.on('pageerror', (error) => problems.push(error.message));
    page?.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
        problems.push(message.text());
    });
    page?.on('response', (response) => {
      void checked(response, check).then((problem) => {
        if (problem !== undefined) problems.push(problem);
      });
    });
  });

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') {
      const text = await page?.innerText('body').catch(() => '');
      console.log(`the page ${page?.url() ?? ''} shows:\n${(text ?? '').slice(0, SHOWN_TEXT)}`);
    }
    await page?.close();
    page = undefined;
    assert.deepEqual(problems, [], 'the page has no errors');
  });

  return {
    get page() {
      return open();
    },
    forgive: () => {
      problems.length = 0;
    },
    tabTo: async (locator, key = 'Tab') => {
      for (let count = 0; count < MAX_TABS; count += 1) {
        if ((await locator.and(open().locator(':focus')).count()) === 1) return;
        await open().keyboard.press(key);
      }
      assert.fail('the keyboard does not come there');
    },
    isAccessible: async (schemes = ['dark', 'light']) => {
      await open().evaluate(await readFile(AXE, 'utf8'));
      for (const colorScheme of schemes) {
        await open().emulateMedia({ colorScheme });
        assert.deepEqual(await open().evaluate(barriers), [], colorScheme);
      }
    },
  };
}

/** In the page: the serious problems that axe finds, each with its first element. */
async function barriers(): Promise<readonly string[]> {
  const { axe } = globalThis as unknown as {
    axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
  };
  return (await axe.run()).violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
}

async function checked(response: Response, check: CheckAnswer): Promise<string | undefined> {
  if (!response.ok() || response.headers()['content-type'] !== 'application/json') return undefined;
  // The body is gone once the page was left.
  const body = (await response.json().catch(() => undefined)) as unknown;
  if (body === undefined) return undefined;
  try {
    check(response.request().method(), response.url(), response.status(), body);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
