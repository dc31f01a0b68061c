import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { documentPaths, readDocument, regenerated } from '../support/generate-docs.ts';
import { githubAnchor } from '../support/github-anchor.ts';
import { CELL_LIMIT } from '../support/option-table.ts';
import { PROSE_WIDTH } from '../support/wrapped.ts';

/** The pages for operators, which are read in an incident. */
const OPERATIONS = [
  'cluster',
  'configurations',
  'console',
  'dead-letters',
  'doctor',
  'health',
  'java-workers',
  'kubernetes',
  'monitoring',
  'rolling-upgrade',
  'threads',
  'troubleshooting',
  'upgrading',
].map((name) => `docs/${name}.md`);
const OPERATIONS_WORDS = 2500;

/** Packages of more than 4,000 lines have a page of their own. */
const PACKAGE_PAGES = [
  ...['config', 'connect', 'converters', 'herder', 'kafka', 'operate'].map((name) => `src/${name}/README.md`),
  ...['console', 'database', 'database-http', 'db-source'].map((name) => `plugins/${name}/README.md`),
];

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('the documents', () => {
  it('have the option tables and the picture of the packages that the code gives (npm run docs)', async () => {
    let [tables, pictures] = [0, 0];
    for (const path of await documentPaths()) {
      const page = await readDocument(path);
      assert.equal(page, regenerated(page), path);
      tables += page.match(/<!-- options: /g)?.length ?? 0;
      pictures += page.match(/<!-- packages -->\n```text\ncli\.ts \(\d+\)\n/g)?.length ?? 0;
    }
    assert.deepEqual([tables, pictures], [17, 1]);
  });

  it('have a README of at most 200 lines, which links to every page of docs', async () => {
    const readme = await readDocument('README.md');
    assert.ok(readme.split('\n').length <= 201);
    const paths = await documentPaths();
    const pages = paths.filter((path) => /^docs\/[^/]+$/.test(path));
    assert.ok(pages.length >= 11);
    for (const page of pages) assert.ok(readme.includes(`](${page})`), `README.md does not link to ${page}`);
  });

  it('have prose of at most 120 columns, and cells of tables of at most 160 characters', async () => {
    const long: string[] = [];
    for (const path of [...(await documentPaths()), ...PACKAGE_PAGES]) {
      const lines = prose(await readDocument(path)).split('\n');
      const cells = lines.filter(isRow).flatMap(cellsOf).map(withoutAddresses);
      const texts = lines.filter((line) => !isRow(line));
      const isLong = (line: string) => line.length > PROSE_WIDTH && line.trim().includes(' ');
      for (const text of texts.filter(isLong)) long.push(`${path}: ${text}`);
      for (const cell of cells.filter(({ length }) => length > CELL_LIMIT)) long.push(`${path}: ${cell}`);
    }
    assert.deepEqual(long, []);
  });

  it('have pages for operators of at most 2,500 words', async () => {
    const long: string[] = [];
    for (const path of OPERATIONS) {
      const words = (await readDocument(path)).split(/\s+/).length;
      if (words > OPERATIONS_WORDS) long.push(`${path}: ${String(words)} words`);
    }
    assert.deepEqual(long, []);
  });

  it('have a changelog of at most 10 kB, with one line of at most 120 columns for each change', async () => {
    const changelog = await readDocument('CHANGELOG.md');
    assert.ok(Buffer.byteLength(changelog) <= 10_000);
    const lines = changelog.split('\n').filter((line) => line !== '');
    assert.deepEqual(
      lines.filter((line) => line.length > 120 || !/^(?:#|- |What users notice)/.test(line)),
      [],
    );
  });

  it('say what to change for each breaking option when upgrading (N14)', async () => {
    const page = await readDocument('docs/upgrading.md');
    for (const option of [
      'batch.size.auto=false',
      'fetch.max.rows.auto=false',
      'X-Forwarded-Proto',
      'ApplicationName',
    ]) {
      assert.ok(page.includes(option), `docs/upgrading.md does not name ${option}`);
    }
  });

  it('link only to files and headings that exist', async () => {
    const dead: string[] = [];
    let links = 0;
    for (const path of [...(await documentPaths()), ...PACKAGE_PAGES]) {
      for (const link of relativeLinks(await readDocument(path))) {
        links += 1;
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : normalize(join(dirname(path), file));
        const exists = !target.startsWith('..') && existsSync(root + target);
        if (!exists || (anchor !== undefined && !anchors(await readDocument(target)).has(anchor))) {
          dead.push(`${path}: ${link}`);
        }
      }
    }
    assert.deepEqual(dead, []);
    assert.ok(links > 50);
  });

  it('of large packages name files that exist', async () => {
    const missing: string[] = [];
    for (const path of PACKAGE_PAGES) {
      const folder = root + dirname(path);
      const files = (await readdir(folder, { recursive: true })).map((file) => file.replaceAll('\\', '/'));
      for (const [, name = ''] of (await readDocument(path)).matchAll(/`([\w/.-]+\.tsx?)`/g)) {
        const isThere = files.some((file) => file === name || file.endsWith(`/${name}`)) || existsSync(root + name);
        if (!isThere) missing.push(`${path}: ${name}`);
      }
    }
    assert.deepEqual(missing, []);
  });

  it('that comments of src, plugins and test name exist, with their headings', async () => {
    const missing: string[] = [];
    let named = 0;
    for (const path of await sourcePaths()) {
      for (const [link, file = '', anchor] of documentsNamedIn(comments(await readDocument(path)))) {
        named += 1;
        const exists = existsSync(root + file);
        if (!exists || (anchor !== undefined && !anchors(await readDocument(file)).has(anchor))) {
          missing.push(`${path}: ${link}`);
        }
      }
    }
    assert.deepEqual(missing, []);
    assert.ok(named > 40);
  });

  it('are found in comments, alone or with an anchor, and not in addresses', () => {
    const source = "|**\n * One (docs/a-b.md#c_d-e). *|\nconst x = 'no.md'; || see other.md, https:||x.org|y.md\n";
    assert.deepEqual(
      documentsNamedIn(comments(source.replaceAll('|', '/'))).map(([link]) => link),
      ['docs/a-b.md#c_d-e', 'other.md'],
    );
  });

  it('list the packages of MAY_IMPORT in the page on the architecture, in an order in which none imports a later one', async () => {
    const packages = rowsOf(await readDocument('docs/architecture.md'), 'Allowed imports').map(([name = '']) =>
      name.replaceAll('`', ''),
    );
    const { MAY_IMPORT } = (await import(new URL('../../eslint.config.js', import.meta.url).href)) as {
      MAY_IMPORT: Readonly<Record<string, readonly string[]>>;
    };
    assert.deepEqual(packages, Object.keys(MAY_IMPORT));
    for (const [place, imported] of Object.values(MAY_IMPORT).entries()) {
      for (const name of imported)
        assert.ok(name === 'plugins' || packages.indexOf(name) < place, `${name} of ${place}`);
    }
  });

  it('say truly where a behaviour lives: the first file of each row has what the row says to look for', async () => {
    const rows = rowsOf(await readDocument('docs/architecture.md'), 'Where a behaviour lives');
    for (const [behaviour = '', files = '', symbol = ''] of rows) {
      const [, file = ''] = /\]\(\.\.\/([^)]+)\)/.exec(files) ?? [];
      assert.match(await readDocument(file), new RegExp(`\\b${symbol.replaceAll('`', '')}\\b`), behaviour);
    }
    assert.ok(rows.length >= 40);
  });

  it('headings get the anchors that GitHub gives them', () => {
    const page =
      '# A `code` heading: yes\n```sh\n# a comment\n```\n## Same\n## Same\n## [Linked](x.md), “quoted” & snake_case\n';
    assert.deepEqual([...anchors(page)], ['a-code-heading-yes', 'same', 'same-1', 'linked-quoted--snake_case']);
  });
});

async function sourcePaths(): Promise<string[]> {
  const folders = ['src', 'plugins', 'test'];
  const lists = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(root + folder, { recursive: true })).map((path) => `${folder}/${path}`),
    ),
  );
  return lists.flat().filter((path) => /\.(?:ts|js|mjs)$/.test(path) && !path.split('/').includes('node_modules'));
}

function comments(source: string): string {
  return (source.match(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g) ?? []).join('\n');
}

/** Names of Markdown files, as paths from the root of the repository, each with its anchor if it has one. */
function documentsNamedIn(text: string): RegExpExecArray[] {
  return [...text.replace(/\w+:\/\/\S+/g, '').matchAll(/([\w./-]+\.md)\b(?:#([\w-]+))?/g)];
}

/** The rows of the table below a heading, each a list of its cells, without the head. */
function rowsOf(page: string, heading: string): string[][] {
  const [section = ''] = (page.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ');
  return section.split('\n').filter(isRow).slice(2).map(cellsOf);
}

function isRow(line: string): boolean {
  return /^ *\|/.test(line);
}

/** A cell as it is read: without the addresses of its links. */
function withoutAddresses(cell: string): string {
  return cell.replace(/\]\([^)]*\)/g, ']');
}

function cellsOf(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The text outside of code, where `#` begins headings and `](` links. */
function prose(page: string): string {
  return page.replace(/^ *```[^\n]*\n[\s\S]*?^ *```$/gm, '');
}

function relativeLinks(page: string): string[] {
  const targets = [
    ...prose(page)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^()\s]+)\)/g),
  ].map((match) => match[1] ?? '');
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page's headings; the second of one name ends in `-1`. */
function anchors(page: string): Set<string> {
  const found = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, heading = ''] of prose(page).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const anchor = githubAnchor(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    found.add(count === 0 ? anchor : `${anchor}-${String(count)}`);
  }
  return found;
}
