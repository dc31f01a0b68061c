import assert from 'node:assert/strict';
import { SourceDeadLetters } from '../../../src/connect/pipeline/source-dead-letters.ts';
import { source } from './source-fakes.ts';

describe('dead letters of a source', () => {
  it('belong to the record that failed, even if another record is dropped at the same time', async () => {
    const letters = new SourceDeadLetters({ connector: 'c', task: 0 }, 'letters', (text) => text);
    const [refused, dropped] = [source(1), source(2)];
    const failure = { stage: 'KAFKA_PRODUCE', className: 'C', consumed: undefined } as const;
    await letters.report({ ...failure, error: new Error('it is too large'), source: refused });
    assert.equal(letters.take(dropped), null);
    const letter = letters.take(refused);
    assert.equal(Buffer.from(letter?.value ?? '').toString(), '{"key":null,"value":"1"}');
    assert.equal(letters.take(refused), null, 'each failure has one dead letter');
    assert.equal(letters.produceRequests, 1);
  });
});
