import assert from 'node:assert/strict';
import type { LibraryCall } from '../../../src/kafka/library/kafkajs-internals.ts';
import { logDirsCall } from '../../../src/kafka/client/log-dirs-protocol.ts';
import { metadataCall, type MetadataResponse } from '../../../src/kafka/connections/metadata-protocol.ts';
import { Apis, libraryCall, unsupportedReason, type Call } from '../../../src/kafka/protocol/protocol.ts';

async function bodyOf(call: Call<MetadataResponse>, maxVersion = 7): Promise<string> {
  return (await madeFor(call, maxVersion).request.encode()).buffer.toString('hex');
}

function madeFor<A>(call: Call<A>, maxVersion: number): LibraryCall<A> {
  return typeof call === 'function' ? call({ 3: { minVersion: 0, maxVersion } }) : call;
}

describe('a metadata request', () => {
  it('requests some topics, all topics, or none', async () => {
    assert.equal(await bodyOf(metadataCall(['ab'])), '00000001' + '0002' + '6162' + '00');
    assert.equal(await bodyOf(metadataCall('all')), 'ffffffff' + '00');
    assert.equal(await bodyOf(metadataCall([])), '00000000' + '00');
  });

  it('requests topic ids from brokers that have them (L1)', async () => {
    const noId = '00'.repeat(16);
    assert.equal(await bodyOf(metadataCall(['ab']), 10), '00' + '02' + noId + '03' + '6162' + '00' + '000000' + '00');
    assert.equal(await bodyOf(metadataCall('all'), 13), '00' + '00' + '000000' + '00');
    assert.equal(await bodyOf(metadataCall([], true), 13), '00' + '01' + '010000' + '00');
    assert.equal(await bodyOf(metadataCall([], false, true), 13), '00' + '01' + '000101' + '00');
  });

  it('creates topics only if requested', async () => {
    assert.equal(await bodyOf(metadataCall(['a'], true)), '00000001' + '0001' + '61' + '01');
    assert.equal(await bodyOf(metadataCall(['a'])), '00000001' + '0001' + '61' + '00');
  });
});

describe('the pinned request versions', () => {
  it('are supported by kafkajs', () => {
    for (const api of Object.values(Apis)) {
      const build = (): unknown => libraryCall(api as never, {} as never);
      // Building may fail because of missing parameters, but not because of the version.
      try {
        build();
      } catch (error) {
        assert.doesNotMatch(String(error), /build is not a function/, api.name);
      }
    }
  });

  it('are compared with the versions that a broker supports', () => {
    const call = madeFor(metadataCall([]), 5);
    assert.equal(unsupportedReason(call, { 3: { minVersion: 0, maxVersion: 13 } }), undefined);
    assert.match(
      unsupportedReason(call, { 3: { minVersion: 0, maxVersion: 5 } }) ?? '',
      /does not support Metadata version 7 \(it supports 0 to 5\); Kafka 2\.4 or later is required/,
    );
    assert.match(unsupportedReason(call, {}) ?? '', /it supports no version/);
  });
});

describe('a DescribeLogDirs request', () => {
  it('contains the partitions, and returns the sizes in each directory', async () => {
    const call = logDirsCall(new Map([['ab', [0, 1]]]));
    assert.equal(
      (await call.request.encode()).buffer.toString('hex'),
      '00000001' + '0002' + '6162' + '00000002' + '00000000' + '00000001',
    );
    const replica = (partition: number, bytes: number, isFuture: boolean): string =>
      partition.toString(16).padStart(8, '0') +
      bytes.toString(16).padStart(16, '0') +
      '00'.repeat(8) +
      (isFuture ? '01' : '00');
    const replicas = replica(0, 258, false) + replica(1, 3, false) + replica(1, 2, true);
    const answer =
      '00000000' + '00000001' + '0000' + '0001' + '64' + '00000001' + '0002' + '6162' + '00000003' + replicas;
    assert.deepEqual(await call.response.decode(Buffer.from(answer, 'hex')), [
      { topic: 'ab', partition: 0, bytes: 258 },
      { topic: 'ab', partition: 1, bytes: 3 },
    ]);
  });
});
