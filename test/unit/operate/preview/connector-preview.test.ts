import assert from 'node:assert/strict';
import { PluginRegistry } from '../../../../src/connect/plugins/plugin-registry.ts';
import { ConnectorPreview } from '../../../../src/operate/preview/connector-preview.ts';
import { RequestError } from '../../../../src/errors.ts';
import { SecretMask } from '../../../../src/observe/secret-mask.ts';
import { StageTracker } from '../../../../src/observe/stage.ts';

const never = () => new Promise<never>(() => undefined);
const noClient = () => assert.fail('no client is needed');

function previewOf(requireValidFor: (plugin: string) => Promise<never>): ConnectorPreview {
  return new ConnectorPreview({
    plugins: new PluginRegistry([]),
    validation: { requireValidFor },
    clients: { admin: noClient, sinkConsumer: noClient },
    converterConfig: {},
    secrets: new SecretMask(),
  });
}

describe('previews', () => {
  const request = { config: {}, messages: [] };

  it('that hang are given up, with what they were doing', async () => {
    const preview = previewOf(never);
    await assert.rejects(preview.preview('Hanging', request, new StageTracker(), AbortSignal.timeout(20)), {
      status: 500,
      message: /^Request timed out\. The worker is currently previewing messages for Hanging, which began at \S+Z\.$/,
    });
  });

  it('fail with what is wrong with the configuration', async () => {
    const refused = new RequestError(400, 'refused');
    const preview = previewOf(() => Promise.reject(refused));
    await assert.rejects(preview.preview('Other', request, new StageTracker(), new AbortController().signal), refused);
  });
});
