'use strict';

const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

// Mocha adds files named on the command line to `spec`; here they replace it.
const words = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const named = words.filter((word) => word.endsWith('.ts') || existsSync(word));
const hasFaults = named.some((word) => word.startsWith('test/faults'));
// These tests share three brokers, and so one process.
const sharesBrokers = named.some((word) => /^test\/faults\/(three-brokers|long)\b/.test(word));
// Files that are named one by one run in this process, where a debugger sees them; all others side by side.
const parallel = named.length === 0 || (named.some((word) => word.includes('*')) && !sharesBrokers);

// The longest first, so that no lane is left with one of them at the end.
const LONGEST = ['test/golden/connect-rest.test.ts', 'test/integration/console.test.ts'];

function filesBelow(folder) {
  const paths = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.test.ts'));
  return paths.map((path) => join(folder, path)).sort();
}

module.exports = {
  'node-option': ['import=tsx'],
  require: ['test/support/hooks.ts'],
  reporter: 'test/support/reporter.ts',
  spec:
    named.length > 0
      ? []
      : [
          ...new Set([
            ...LONGEST,
            ...['integration', 'golden', 'house', 'properties', 'unit'].flatMap((kind) => filesBelow(`test/${kind}`)),
            ...filesBelow('plugins/console/test'),
          ]),
        ],
  extension: ['ts'],
  parallel,
  // More than a machine has cores, since most files wait more than they compute.
  jobs: 3,
  // For a machine that is ten times as busy as it should be; SLUICE_TEST_PATIENCE multiplies it (test/support/until.ts).
  timeout: (hasFaults ? 600_000 : 240_000) * Number(process.env.SLUICE_TEST_PATIENCE ?? '1'),
  slow: 2_000,
  exit: true,
  'fail-zero': true,
  ...(parallel ? {} : { 'forbid-only': process.env.CI !== undefined }),
};
