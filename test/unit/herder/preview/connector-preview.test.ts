import assert from 'node:assert/strict';
import { PluginRegistry } from '../../../../src/connect/plugins/plugin-registry.ts';
import { ConnectorPreview } from '../../../../src/herder/preview/connector-preview.ts';
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

  it('that hang are given up with what they were doing, and those behind them are done', async () => {
    const refused = new RequestError(400, 'refused');
    const preview = previewOf((plugin) => (plugin === 'Hanging' ? never() : Promise.reject(refused)));
    const hanging = preview.preview('Hanging', request, new StageTracker(), 20);
    const next = preview.preview('Other', request, new StageTracker());
    await assert.rejects(hanging, {
      status: 500,
      message: /^Request timed out\. The worker is currently previewing messages for Hanging, which began at \S+Z\.$/,
    });
    await assert.rejects(next, refused);
  });

  it('whose turn comes too late are not begun', async () => {
    const begun: string[] = [];
    const preview = previewOf((plugin) => {
      begun.push(plugin);
      return never();
    });
    const first = preview.preview('First', request, new StageTracker(), 40);
    const second = preview.preview('Second', request, new StageTracker(), 20);
    await assert.rejects(first, { status: 500 });
    await assert.rejects(second, { status: 500 });
    assert.deepEqual(begun, ['First']);
  });
});
