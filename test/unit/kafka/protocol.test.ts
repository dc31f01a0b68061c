import assert from 'node:assert/strict';
import { Apis, libraryCall, metadataCall, unsupportedReason } from '../../../src/kafka/protocol.ts';

async function bodyOf(call: { request: { encode: () => Promise<{ buffer: Buffer }> } }): Promise<string> {
  return (await call.request.encode()).buffer.toString('hex');
}

describe('a metadata request', () => {
  it('asks for some topics, for all, or for none', async () => {
    assert.equal(await bodyOf(metadataCall(['ab'])), '00000001' + '0002' + '6162' + '00');
    assert.equal(await bodyOf(metadataCall('all')), 'ffffffff' + '00');
    assert.equal(await bodyOf(metadataCall([])), '00000000' + '00');
  });

  it('creates topics only where it says so', async () => {
    assert.equal(await bodyOf(metadataCall(['a'], true)), '00000001' + '0001' + '61' + '01');
    assert.equal(await bodyOf(metadataCall(['a'])), '00000001' + '0001' + '61' + '00');
  });
});

describe('the pinned request versions', () => {
  it('are those that the library speaks', () => {
    for (const api of Object.values(Apis)) {
      const build = (): unknown => libraryCall(api as never, {} as never);
      // Building may fail for want of parameters, but not for want of the version.
      try {
        build();
      } catch (error) {
        assert.doesNotMatch(String(error), /build is not a function/, api.name);
      }
    }
  });

  it('are compared with what a broker takes', () => {
    const call = metadataCall([]);
    assert.equal(unsupportedReason(call, { 3: { minVersion: 0, maxVersion: 13 } }), undefined);
    assert.match(
      unsupportedReason(call, { 3: { minVersion: 0, maxVersion: 5 } }) ?? '',
      /does not take request Metadata in version 6 \(it takes 0 to 5\); Kafka 2\.3 or later is needed/,
    );
    assert.match(unsupportedReason(call, {}) ?? '', /it takes not at all/);
  });
});
