import { LargeMessagesFixture } from './large-messages-fixture.ts';

describe('messages that unpack large (S1, S6)', function () {
  let fixture: LargeMessagesFixture;

  before(async () => (fixture = await LargeMessagesFixture.create()));
  after(() => fixture.close());

  it('fail the task that reads a batch above the limit, with its place, and let it stop: snappy', () =>
    fixture.failsAboveLimit('snappy'));
});
