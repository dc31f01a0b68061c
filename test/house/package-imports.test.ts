import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { importsBelow } from '../support/imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A file, its import, and the message of the lint rule. */
const forbidden: readonly (readonly [file: string, from: string, message: RegExp])[] = [
  ['src/connect/snippet.ts', 'kafkajs', /Only src\/kafka imports the Kafka library/],
  ['plugins/db-sink/snippet.ts', 'kafkajs/src/cluster/index.js', /Only src\/kafka/],
  ['src/worker/snippet.ts', 'kafkajs', /Only src\/kafka/],
  ['src/herder/snippet.ts', 'pg', /Only plugins\/database\/executor imports the PostgreSQL driver/],
  ['src/dev/snippet.ts', 'pg-cursor', /Only plugins\/database\/executor/],
  ['src/herder/snippet.ts', 'koa', /Only src\/rest and plugins\/database-http import Koa/],
  ['plugins/db-sink/snippet.ts', '@koa/router', /Only src\/rest/],
  ['plugins/database/formats/snippet.ts', 'node:fs', /do no I\/O/],
  ['plugins/database/formats/snippet.ts', 'fs/promises', /do no I\/O/],
  ['plugins/database/sql/snippet.ts', 'node:net', /do no I\/O/],
  ['plugins/database/sql/dialects/snippet.ts', 'pg', /Only plugins\/database\/executor/],
  ['plugins/database/sql/snippet.ts', '../../../src/kafka/api.ts', /sql imports src\/data, src\/errors\.ts; the table/],
  ['plugins/database/formats/snippet.ts', '../../../src/index.ts', /formats imports src\/data, src\/errors\.ts/],
  ['plugins/database/formats/snippet.ts', '../executor/api.ts', /formats imports src\/data, src\/errors\.ts/],
  ['src/data/snippet.ts', '../errors.ts', /src\/data imports nothing/],
  ['src/data/snippet.ts', 'node:buffer', /src\/data imports nothing/],
  ['src/data/snippet.ts', 'ajv', /src\/data imports nothing/],
  ['src/connect/snippet.ts', '../herder/herder.ts', /src\/connect imports src\/async/],
  ['src/connect/sink/snippet.ts', '../../herder/herder.ts', /src\/connect imports src\/async/],
  ['src/rest/snippet.ts', '../../plugins/db-sink/plugin.ts', /src\/rest imports/],
  [
    'plugins/db-sink/snippet.ts',
    '../../src/kafka/api.ts',
    /db-sink imports src\/index\.ts, plugins\/database\/index\.ts; the table/,
  ],
  [
    'plugins/database-http/routes/snippet.ts',
    '../../database/executor/api.ts',
    /src\/index\.ts, plugins\/database\/index/,
  ],
  ['plugins/db-source/snippet.ts', '../db-sink/plugin.ts', /src\/index\.ts, plugins\/database\/index/],
  ['plugins/file-stream/snippet.ts', '../database/index.ts', /file-stream imports src\/index\.ts; the table/],
  ['src/worker/snippet.ts', '../dev/stack.ts', /src\/worker imports/],
  ['src/cli/doctor/snippet.ts', '../../rest/server.ts', /src\/cli imports only the types of answers/],
  ['src/cli/doctor/snippet.ts', '../../operate/fleet/fleet.ts', /src\/cli imports only the types of answers/],
  ['src/kafka/snippet.ts', '../../test/support/until.ts', /does not import its tests/],
  ['plugins/console/src/snippet.ts', '../test/support/browser.ts', /does not import its tests/],
  ['src/rest/snippet.ts', '../../plugins/console/test/support/browser.ts', /does not import its tests/],
  ['plugins/console/test/snippet.ts', '../../../src/version.ts', /plugins\/console imports src\/json, src\/operate/],
  ['plugins/console/test/snippet.ts', '../../../test/support/until.ts', /does not import its tests/],
];

const allowed: readonly (readonly [file: string, from: string])[] = [
  ['src/kafka/snippet.ts', 'kafkajs'],
  ['plugins/database/executor/snippet.ts', 'pg-cursor'],
  ['src/rest/snippet.ts', '@koa/router'],
  ['plugins/database-http/snippet.ts', 'koa'],
  ['plugins/database/formats/snippet.ts', '../../../src/errors.ts'],
  ['plugins/database/formats/snippet.ts', '../../../src/data/row-batch.ts'],
  ['plugins/database/formats/snippet.ts', '../sql/quote.ts'],
  ['plugins/database/sql/snippet.ts', '../../../src/data/table-shape.ts'],
  ['src/data/snippet.ts', './schema.ts'],
  ['src/herder/snippet.ts', '../connect/api.ts'],
  ['plugins/db-sink/snippet.ts', '../../src/index.ts'],
  ['plugins/db-sink/snippet.ts', '../database/index.ts'],
  ['src/worker/snippet.ts', '../../plugins/db-sink/plugin.ts'],
  ['plugins/db-sink/snippet.ts', 'node:fs'],
  ['test/integration/snippet.ts', 'pg'],
  ['test/integration/snippet.ts', '../../plugins/console/test/support/browser.ts'],
  ['plugins/console/test/snippet.ts', '../src/common/csv.ts'],
];

/**
 * `src/kafka/api.ts` is in `kafka`, `src/errors.ts` in `errors.ts`, `plugins/db-sink/plugin.ts` in `plugins/db-sink`, and
 * `plugins/database/sql/quote.ts` in `plugins/database/sql`.
 */
function packageOf(file: string): string {
  const [top, name = '', inner = ''] = file.split('/');
  if (top === 'src') return name;
  return name === 'database' ? `plugins/database/${inner}` : `plugins/${name}`;
}

describe('imports between packages', () => {
  const eslint = new ESLint({
    cwd: root,
    // The rules need no types, and a file that does not exist has none.
    overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }],
  });

  async function lint(file: string, code: string): Promise<readonly string[]> {
    const [result] = await eslint.lintText(code, { filePath: `${root}${file}` });
    return (result?.messages ?? []).map(({ message }) => message);
  }

  for (const [file, from, message] of forbidden) {
    it(`are forbidden from ${file} to ${from}`, async () => {
      assert.match((await lint(file, `import '${from}';\n`)).join('\n'), message);
      assert.match((await lint(file, `import type { X } from '${from}';\nexport type { X };\n`)).join('\n'), message);
      assert.match((await lint(file, `export const late = import('${from}');\n`)).join('\n'), message);
    });
  }

  for (const [file, from] of allowed) {
    it(`are allowed from ${file} to ${from}`, async () => {
      assert.deepEqual(await lint(file, `import '${from}';\n`), []);
    });
  }

  it('give the command line the types of answers, and nothing else of their packages', async () => {
    for (const from of ['../../rest/answers.ts', '../../operate/drain/cluster-answers.ts']) {
      const file = 'src/cli/doctor/snippet.ts';
      assert.deepEqual(await lint(file, `import type { X } from '${from}';\nexport type { X };\n`), []);
      for (const code of [`import '${from}';\n`, `export const late = import('${from}');\n`])
        assert.match((await lint(file, code)).join('\n'), /only the types of answers/);
    }
  });

  it('are listed in one table, with every package, and without imports that no file uses', async () => {
    const { MAY_IMPORT } = (await import(new URL('../../eslint.config.js', import.meta.url).href)) as {
      MAY_IMPORT: Readonly<Record<string, readonly string[]>>;
    };
    const used = new Map<string, Set<string>>();
    for (const [file, imports] of importsBelow('src', 'plugins')) {
      const name = packageOf(file);
      const others = imports.map(packageOf).filter((other) => other !== name);
      const open = used.get(name) ?? new Set();
      const hasAll = MAY_IMPORT[name]?.includes('plugins') === true;
      for (const other of others) open.add(hasAll && other.startsWith('plugins/') ? 'plugins' : other);
      used.set(name, open);
    }
    const sorted = (table: Iterable<readonly [string, Iterable<string>]>) =>
      Object.fromEntries([...table].map(([name, open]) => [name, [...open].sort()]));
    assert.deepEqual(sorted(Object.entries(MAY_IMPORT)), sorted(used));
  });

  it('use named exports, and files with descriptive names', async () => {
    assert.match((await lint('src/rest/snippet.ts', 'export default 1;\n')).join(), /named exports/);
    assert.match((await lint('src/rest/SnippetFile.ts', 'export const a = 1;\n')).join(), /not kebab-case/);
    assert.match((await lint('src/rest/string-utils.ts', 'export const a = 1;\n')).join(), /does not say/);
  });
});
