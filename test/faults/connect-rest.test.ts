import { itAnswersAsRecorded, ONE_PER_RESOURCE } from '../golden/connect-rest-replay.ts';

describe('the REST API, against scenarios recorded from the Java worker', () => {
  itAnswersAsRecorded('distributed', (scenario) => !ONE_PER_RESOURCE.has(scenario));
  itAnswersAsRecorded('standalone', () => true);
});
