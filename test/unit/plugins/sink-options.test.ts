import assert from 'node:assert/strict';
import { sinkOptions } from '../../../plugins/db-sink/options.ts';
import { structOptions } from '../../../plugins/db-sink/struct-options.ts';
import { validateOptions } from '../../../src/config/parse.ts';

describe('the options of the sink', () => {
  it('are hidden where they have no effect: those of struct with another format', () => {
    const hidden = (format: string): string[] =>
      validateOptions(sinkOptions, { 'protocol.type': format }).flatMap(({ name, visible }) => (visible ? [] : [name]));
    assert.deepEqual(hidden('json_db'), Object.keys(structOptions));
    assert.deepEqual(hidden('struct'), []);
  });

  it('recommend the values of closed sets', () => {
    const results = validateOptions(sinkOptions, { 'protocol.type': 'struct' });
    assert.deepEqual(results.find(({ name }) => name === 'pk.mode')?.recommendedValues, [
      ...['none', 'record_key', 'record_value', 'kafka'],
    ]);
  });
});
