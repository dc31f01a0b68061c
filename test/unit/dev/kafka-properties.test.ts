import assert from 'node:assert/strict';
import { brokerProperties, propertiesEnvironment, propertiesText } from '../../../src/dev/kafka/properties.ts';

const place = { dataDir: '/data', port: 9092, controllerPort: 9093, listenHost: '0.0.0.0' };

describe('properties of the local broker', () => {
  it('name 127.0.0.1 to clients wherever the broker listens', () => {
    const properties = brokerProperties(place);
    assert.equal(properties['listeners'], 'PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093');
    assert.equal(properties['advertised.listeners'], 'PLAINTEXT://127.0.0.1:9092');
    assert.equal(properties['auto.create.topics.enable'], 'false');
  });

  it('are written as Java reads them: backslashes doubled, everything else than ASCII by number', () => {
    assert.equal(propertiesText({ 'log.dirs': 'C:\\kä' }), 'log.dirs=C:\\\\k\\u00e4\n');
  });

  it('become the variables of the image', () => {
    assert.deepEqual(propertiesEnvironment({ 'log.dirs': '/x', 'node.id': '1' }), {
      KAFKA_LOG_DIRS: '/x',
      KAFKA_NODE_ID: '1',
    });
  });
});
