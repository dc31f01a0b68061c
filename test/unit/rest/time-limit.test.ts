import assert from 'node:assert/strict';
import { StageTracker } from '../../../src/observe/stage.ts';
import { withinTimeLimit } from '../../../src/rest/resource.ts';

const LIMIT_MS = 20;
const never = () => new Promise<void>(() => undefined);

describe('the time limit of requests', () => {
  it('lets nobody wait for a plugin that hangs, and the answer says what the worker was doing', async () => {
    const stage = new StageTracker();
    const hung = stage.during('asking a plugin', never);
    await assert.rejects(withinTimeLimit(stage, hung, LIMIT_MS), {
      status: 500,
      message: /^Request timed out\. The worker is currently asking a plugin, which began at \S+Z\.$/,
    });
  });

  it('says no more than that where nothing is known', async () => {
    await assert.rejects(withinTimeLimit(new StageTracker(), never(), LIMIT_MS), { message: 'Request timed out' });
  });

  it('is nothing to those that are done in time', async () => {
    assert.equal(await withinTimeLimit(new StageTracker(), Promise.resolve(5), LIMIT_MS), 5);
  });
});
