import assert from 'node:assert/strict';
import { SinkPositions } from '../../../src/connect/sink/sink-positions.ts';

describe('The positions of a sink task', () => {
  it('count the offsets that are put and not committed, through all changes of partitions', () => {
    const positions = new SinkPositions();
    const at = (partition: number, offset: number) => ({ topic: 't', partition, offset });
    positions.own(at(0, 0), 10);
    positions.own(at(1, 0), 5);
    assert.equal(positions.active, 0);
    const [first = '', second = ''] = positions.delivered.keys();
    positions.deliver(first, at(0, 30));
    positions.deliver(second, at(1, 6));
    assert.equal(positions.active, 21);
    assert.deepEqual(positions.unsettled(), [
      { topic: 't', partition: 0, from: 10, to: 30 },
      { topic: 't', partition: 1, from: 5, to: 6 },
    ]);
    positions.commit(at(0, 25));
    assert.equal(positions.active, 6);
    positions.deliver(first, at(0, 7));
    assert.equal(positions.active, 1, 'read again from before what is committed');
    positions.disown(at(1, 0));
    assert.deepEqual([positions.active, positions.delivered.size, positions.committed(second)], [0, 1, undefined]);
    positions.deliver(first, at(0, 40));
    positions.clear();
    assert.deepEqual([positions.active, positions.delivered.size], [0, 0]);
  });
});
