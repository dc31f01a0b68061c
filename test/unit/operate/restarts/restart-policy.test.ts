import assert from 'node:assert/strict';
import { restartSettings } from '../../../../src/config/restart-options.ts';
import type { FailureKind } from '../../../../src/connect/task-failure.ts';
import { decideRestart } from '../../../../src/operate/restarts/restart-policy.ts';

const KINDS: readonly FailureKind[] = ['infrastructure', 'hang', 'memory', 'configuration', 'data', 'unknown'];

const restarted = (policy: string) => {
  const settings = restartSettings({ 'restart.policy': policy }, {});
  return KINDS.filter((kind) => decideRestart(settings, kind, 0, 0.5).restart);
};

describe('restart.policy', () => {
  it('decides which kinds of failures are restarted', () => {
    assert.deepEqual(restarted('transient'), ['infrastructure', 'hang', 'memory']);
    assert.deepEqual(restarted('always'), KINDS);
    assert.deepEqual(restarted('never'), []);
  });

  it('waits twice as long each time, up to the longest wait, a fifth more or less', () => {
    const settings = restartSettings({}, {});
    const delays = (random: number) =>
      [0, 1, 2, 8, 9, 19].map((attempts) => {
        const decision = decideRestart(settings, 'infrastructure', attempts, random);
        return decision.restart && decision.delayMs;
      });
    assert.deepEqual(delays(0.5), [1000, 2000, 4000, 256_000, 300_000, 300_000]);
    assert.deepEqual(delays(0), [800, 1600, 3200, 204_800, 240_000, 240_000]);
    assert.deepEqual(delays(1), [1200, 2400, 4800, 307_200, 360_000, 360_000]);
  });

  it('ends after restart.max.attempts; with -1 it never does', () => {
    const capped = restartSettings({ 'restart.max.attempts': '2' }, {});
    assert.deepEqual(decideRestart(capped, 'hang', 1, 0.5), { restart: true, attempt: 2, delayMs: 2000 });
    assert.deepEqual(decideRestart(capped, 'hang', 2, 0.5), { restart: false, why: 'attempts' });
    const endless = restartSettings({ 'restart.max.attempts': '-1' }, {});
    assert.deepEqual(decideRestart(endless, 'hang', 5000, 0.5), { restart: true, attempt: 5001, delayMs: 300_000 });
    const none = restartSettings({ 'restart.max.attempts': '0' }, {});
    assert.equal(decideRestart(none, 'hang', 0, 0.5).restart, false);
  });

  it('is that of the connector, else that of the worker', () => {
    const worker = { 'restart.policy': 'never', 'restart.quiet.ms': '5', 'group.id': 'g' };
    const { policy, quietMs, maxAttempts } = restartSettings({ 'restart.policy': 'always', topics: 't' }, worker);
    assert.deepEqual([policy, quietMs, maxAttempts], ['always', 5, 20]);
    assert.throws(() => restartSettings({ 'restart.policy': 'often' }, worker), /restart\.policy/);
  });
});
