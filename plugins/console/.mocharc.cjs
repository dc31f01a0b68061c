'use strict';

// Mocha would take a file of another format from here only if no folder above had a `.mocharc.cjs`.
module.exports = {
  'node-option': ['import=tsx'],
  extension: ['ts'],
  spec: ['test/**/*.test.ts'],
  'fail-zero': true,
};
