import assert from 'node:assert/strict';
import { ConnectorTopics } from '../../../../src/herder/connector-topics.ts';
import type { StatusStore } from '../../../../src/herder/stores/status-store.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { MessageReadings, type MessageReading } from '../../../../src/operate/messages/message-readings.ts';

describe('readings of messages', () => {
  const statuses = { topics: () => [{ topic: 'used' }] } as unknown as StatusStore;

  async function topicsOfPage(enabled: boolean): Promise<MessageReading['topics']> {
    let topics: MessageReading['topics'];
    const readings = new MessageReadings(
      { config: () => ({}) },
      new ConnectorTopics(statuses, { enabled, resettable: true }, silentLogger),
      (reading) => {
        topics = reading.topics;
        return Promise.resolve('{}');
      },
    );
    assert.equal(await readings.page('sink', {}, new AbortController().signal), '{}');
    return topics;
  }

  it('have the topics that the connector has used', async () => {
    assert.deepEqual(await topicsOfPage(true), ['used']);
  });

  it('are possible if topics are not tracked, because a sink names its own', async () => {
    assert.equal(await topicsOfPage(false), undefined);
  });
});
