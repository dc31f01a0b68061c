import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Any file of the herder, since a rule sees only imports of files that exist. */
const herderFile = readdirSync(`${root}src/herder`).find((name) => name.endsWith('.ts')) ?? 'missing.ts';

/** A file, what it imports, and what the lint has to say of it. */
const shut: readonly (readonly [file: string, from: string, message: RegExp])[] = [
  ['src/connect/snippet.ts', 'kafkajs', /Only src\/kafka imports the Kafka library/],
  ['plugins/db-sink/snippet.ts', 'kafkajs/src/cluster/index.js', /Only src\/kafka/],
  ['src/worker.ts', 'kafkajs', /Only src\/kafka/],
  ['src/herder/snippet.ts', 'pg', /Only src\/database imports the PostgreSQL driver/],
  ['src/dev/snippet.ts', 'pg-cursor', /Only src\/database/],
  ['src/herder/snippet.ts', 'koa', /Only src\/rest and plugins\/database-http import Koa/],
  ['plugins/db-sink/snippet.ts', '@koa/router', /Only src\/rest/],
  ['src/formats/snippet.ts', 'node:fs', /do no I\/O/],
  ['src/formats/snippet.ts', 'fs/promises', /do no I\/O/],
  ['src/sql/snippet.ts', 'node:net', /do no I\/O/],
  ['src/sql/dialects/snippet.ts', 'pg', /Only src\/database/],
  ['src/sql/snippet.ts', '../kafka/api.ts', /import data, errors\.ts and each other/],
  ['src/formats/snippet.ts', '../index.ts', /import data, errors\.ts and each other/],
  ['src/data/snippet.ts', '../errors.ts', /src\/data imports nothing/],
  ['src/data/snippet.ts', 'node:buffer', /src\/data imports nothing/],
  ['src/data/snippet.ts', 'ajv', /src\/data imports nothing/],
  ['src/connect/snippet.ts', `../herder/${herderFile}`, /does not know the herder/],
  ['src/connect/converters/snippet.ts', `../../herder/${herderFile}`, /does not know the herder/],
  ['plugins/db-sink/snippet.ts', '../../src/kafka/api.ts', /imports from src\/index\.ts alone/],
  ['plugins/database-http/routes/snippet.ts', '../../../src/database/api.ts', /imports from src\/index\.ts alone/],
  ['plugins/db-source/snippet.ts', '../db-sink/plugin.ts', /never from another plugin/],
  ['src/kafka/snippet.ts', '../../test/support/until.ts', /does not import its tests/],
];

const open: readonly (readonly [file: string, from: string])[] = [
  ['src/kafka/snippet.ts', 'kafkajs'],
  ['src/database/snippet.ts', 'pg-copy-streams'],
  ['src/rest/snippet.ts', '@koa/router'],
  ['plugins/database-http/snippet.ts', 'koa'],
  ['src/formats/snippet.ts', '../errors.ts'],
  ['src/formats/snippet.ts', '../data/row-batch.ts'],
  ['src/sql/snippet.ts', '../data/table-shape.ts'],
  ['src/data/snippet.ts', './schema.ts'],
  ['src/herder/snippet.ts', '../connect/api.ts'],
  ['plugins/db-sink/snippet.ts', '../../src/index.ts'],
  ['plugins/db-sink/snippet.ts', 'node:fs'],
  ['test/integration/snippet.ts', 'pg'],
];

describe('the doors of the house', () => {
  const eslint = new ESLint({
    cwd: root,
    // Types are of no use to the doors, and a file that does not exist has none.
    overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }],
  });

  async function lint(file: string, code: string): Promise<readonly string[]> {
    const [result] = await eslint.lintText(code, { filePath: `${root}${file}` });
    return (result?.messages ?? []).map(({ message }) => message);
  }

  for (const [file, from, message] of shut) {
    it(`are shut between ${file} and ${from}`, async () => {
      assert.match((await lint(file, `import '${from}';\n`)).join('\n'), message);
      assert.match((await lint(file, `import type { X } from '${from}';\nexport type { X };\n`)).join('\n'), message);
      assert.match((await lint(file, `export const late = import('${from}');\n`)).join('\n'), message);
    });
  }

  for (const [file, from] of open) {
    it(`are open between ${file} and ${from}`, async () => {
      assert.deepEqual(await lint(file, `import '${from}';\n`), []);
    });
  }

  it('have named exports and files with a telling name behind them', async () => {
    assert.match((await lint('src/rest/snippet.ts', 'export default 1;\n')).join(), /named exports/);
    assert.match((await lint('src/rest/SnippetFile.ts', 'export const a = 1;\n')).join(), /not kebab-case/);
    assert.match((await lint('src/rest/string-utils.ts', 'export const a = 1;\n')).join(), /does not say/);
  });
});
