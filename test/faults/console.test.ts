import assert from 'node:assert/strict';
import { fleetConsole } from '../integration/console-fixture.ts';

describe('the console', function () {
  const { shown, on, rowOf, badgeOf, create } = fleetConsole();

  it('shows the broken connector first, says why, and follows its state', async () => {
    const whole = await create();
    const broken = await create();
    await shown.page.goto(`${on.worker.url}/ui`);
    await badgeOf(whole, 'RUNNING').waitFor();
    await on.kafka.produce(broken, [{ value: 'this is no line' }]);
    await badgeOf(broken, 'FAILED').waitFor();
    const names = await shown.page.locator('table.fleet tbody th a').allTextContents();
    assert.ok(names.indexOf(broken) < names.indexOf(whole), String(names));

    await rowOf(broken).getByRole('link').click();
    await shown.page.getByRole('heading', { level: 1, name: broken }).waitFor();
    assert.match(await shown.page.locator('.sentence').innerText(), /\(task 0\)/);
    await shown.page.locator('.trace summary').click();
    const trace = (await shown.page.locator('.trace pre').innerText()).trimEnd();
    const { tasks } = await on.worker.rest.status(broken);
    assert.equal(trace, tasks[0]?.trace?.trimEnd());
    await shown.page.locator('figure').first().waitFor();

    await on.worker.rest.delete(`/connectors/${broken}`);
    await shown.page.getByRole('link', { name: 'All connectors' }).click();
    await rowOf(broken).waitFor({ state: 'detached' });
    await on.worker.rest.delete(`/connectors/${whole}`);
  });
});
