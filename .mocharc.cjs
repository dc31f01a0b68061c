'use strict';

const { existsSync } = require('node:fs');

// Mocha adds files named on the command line to `spec`; here they replace it.
const named = process.argv.slice(2).some((word) => !word.startsWith('-') && (word.endsWith('.ts') || existsSync(word)));

module.exports = {
  'node-option': ['import=tsx'],
  require: ['test/support/hooks.ts'],
  reporter: 'test/support/reporter.ts',
  spec: named ? [] : ['unit', 'golden', 'integration'].map((kind) => `test/${kind}/**/*.test.ts`),
  extension: ['ts'],
  timeout: 20_000,
  slow: 2_000,
  exit: true,
  'fail-zero': true,
  'forbid-only': process.env.CI !== undefined,
};
