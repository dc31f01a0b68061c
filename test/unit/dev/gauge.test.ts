import assert from 'node:assert/strict';
import { Gauge } from '../../../src/dev/gauge.ts';
import { until } from '../../support/until.ts';

const ENOUGH_MS = 5000;

describe('the gauge of a service that may be unreachable', () => {
  it('keeps the last answer while the service is unreachable, and reports since when and why', async () => {
    const answers: (() => number)[] = [
      () => 7,
      () => {
        throw new Error('Reading topics failed', { cause: new Error('connect ECONNREFUSED\nand more') });
      },
      () => {
        throw new Error('still');
      },
      () => 9,
    ];
    const gauge = new Gauge('Kafka', () => Promise.resolve().then(() => answers.shift()?.() ?? 0));
    await gauge.read(ENOUGH_MS);
    assert.deepEqual([gauge.value, gauge.outage], [7, undefined]);
    await gauge.read(ENOUGH_MS);
    const first = gauge.outage;
    assert.deepEqual([gauge.value, first?.service, first?.reason], [7, 'Kafka', 'connect ECONNREFUSED']);
    await gauge.read(ENOUGH_MS);
    assert.deepEqual([gauge.outage?.since, gauge.outage?.reason], [first?.since, 'still']);
    await gauge.read(ENOUGH_MS);
    assert.deepEqual([gauge.value, gauge.outage], [9, undefined]);
  });

  it('does not wait longer than it may, sends one request at a time, and treats a long silence as an outage', async () => {
    let asked = 0;
    let answer: (value: number) => void = () => undefined;
    const ask = () => {
      asked += 1;
      return new Promise<number>((resolve) => (answer = resolve));
    };
    const gauge = new Gauge('Kafka', ask, 50);
    await gauge.read(1);
    await until(async () => {
      await gauge.read(1);
      return gauge.outage !== undefined;
    }, 'the silence is noticed');
    assert.equal(gauge.outage?.reason, 'it does not answer');
    assert.equal(asked, 1);
    answer(3);
    await until(() => gauge.value === 3, 'the answer is taken');
    assert.equal(gauge.outage, undefined);
  });
});
