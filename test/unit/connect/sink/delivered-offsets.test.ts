import assert from 'node:assert/strict';
import type { PartitionOffset, SinkTask } from '../../../../src/connect/api.ts';
import { DeliveredOffsets } from '../../../../src/connect/sink/delivered-offsets.ts';
import { SinkPositions } from '../../../../src/connect/sink/sink-positions.ts';
import { topicPartitionKey } from '../../../../src/data/record.ts';
import type { RecordBlock } from '../../../../src/kafka/api.ts';

const PLACE = { topic: 't', partition: 0 } as const;
const KEY = topicPartitionKey(PLACE.topic, PLACE.partition);

/** A consumer that has polled up to a position, and a task. */
class Scene {
  readonly positions = new SinkPositions();
  readonly offsets: DeliveredOffsets;
  /** Offsets by which the deliveries grew. */
  readonly delivered: number[] = [];
  position: number | undefined = 0;
  end: number | undefined = 100;

  constructor(task: Pick<SinkTask, 'stored'> = {}) {
    const lag = (): number | undefined =>
      this.end === undefined || this.position === undefined ? undefined : this.end - this.position;
    this.offsets = new DeliveredOffsets(
      task,
      { lags: () => [{ ...PLACE, lag: lag() }], position: () => this.position },
      this.positions,
      { delivered: (offsets) => this.delivered.push(offsets) },
    );
    this.positions.own(PLACE, 0);
  }

  /** Polls records up to an offset, and puts them up to another. */
  put(polled: number, put = polled): void {
    const block = { ...PLACE, offsets: [polled - 1], count: 1 } as unknown as RecordBlock;
    this.offsets.polled([block]);
    this.position = polled;
    this.positions.deliver(KEY, { ...PLACE, offset: put });
  }

  get lag(): number | undefined {
    return this.offsets.lags()[0]?.lag;
  }
}

const at = (offset: number): readonly PartitionOffset[] => [{ ...PLACE, offset }];

describe('how far a sink has delivered', () => {
  it('is the put offset, for a task that does not report stored offsets', () => {
    const scene = new Scene();
    scene.put(40);
    assert.equal(scene.lag, 60);
    scene.put(70, 50);
    assert.equal(scene.lag, 50, 'twenty records are polled and not put');
  });

  it('is the last result of preCommit while that is lower than the put offset', () => {
    const scene = new Scene();
    scene.put(40);
    assert.deepEqual(scene.offsets.confirmed(at(30)), at(30));
    assert.equal(scene.lag, 70);
    scene.put(60);
    assert.equal(scene.lag, 70, 'what was put since is not confirmed');
    scene.offsets.confirmed(at(60));
    assert.equal(scene.lag, 40);
    scene.put(80);
    assert.equal(scene.lag, 20, 'after an answer with everything, what is put counts');
  });

  it('is the offset that the task reports as stored, but not more than the put offset', () => {
    let stored = 10;
    const scene = new Scene({ stored: () => [{ ...PLACE, offset: stored }] });
    scene.put(40);
    assert.equal(scene.lag, 90);
    scene.offsets.confirmed(at(40));
    assert.equal(scene.lag, 90, 'preCommit does not count then');
    stored = 1_000;
    assert.equal(scene.lag, 60);
  });

  it('counts each delivered offset once, beginning with the first look', () => {
    const scene = new Scene();
    scene.put(10);
    scene.offsets.lags();
    assert.deepEqual(scene.delivered, [], 'what was delivered before the first look is not known');
    scene.put(40);
    scene.offsets.lags();
    scene.offsets.lags();
    scene.put(45);
    scene.offsets.lags();
    assert.deepEqual(scene.delivered, [30, 5]);
  });

  it('counts again from where the task seeks to', () => {
    const scene = new Scene();
    scene.put(40);
    scene.offsets.lags();
    scene.offsets.confirmed(at(20));
    scene.offsets.sought({ ...PLACE, offset: 5 });
    scene.position = 5;
    assert.equal(scene.lag, 95, 'an earlier answer of preCommit does not count any more');
    scene.put(15);
    scene.offsets.lags();
    assert.deepEqual(scene.delivered, [10]);
  });

  it('leaves no lag where offsets behind the last record have no records', () => {
    const scene = new Scene();
    scene.put(40);
    scene.position = 100;
    assert.equal(scene.lag, 0, 'the consumer has passed over a gap up to the end');
  });

  it('says nothing of partitions that are not owned, and no lag where the end is not known', () => {
    const scene = new Scene();
    scene.put(40, 20);
    scene.end = undefined;
    assert.deepEqual(scene.offsets.lags(), [{ ...PLACE, lag: undefined }]);
    scene.end = 100;
    scene.offsets.disown(PLACE);
    assert.deepEqual(scene.offsets.lags(), []);
  });
});
