import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files of the package other than the built modules, the console and the documents. */
const OTHERS = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  ...readdirSync(`${root}docs/monitoring`).map((name) => `docs/monitoring/${name}`),
  'package.json',
  'src/dev/kafka/pom.xml',
  ...readdirSync(`${root}src/dev/samples`).map((name) => `src/dev/samples/${name}`),
];

describe('the package', () => {
  it('holds the built worker and its documents, and nothing else', async () => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
    });
    const [packed] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = packed.files.map(({ path }) => path);
    const own = paths.filter((path) => !/^dist\/(src|plugins|console)\/|^docs\/.*\.md$/.test(path));
    assert.deepEqual(own.sort(), [...OTHERS].sort());
    assert.ok(paths.includes('docs/plugins.md'));
    assert.ok(paths.includes('dist/console/index.html'));
  });
});
