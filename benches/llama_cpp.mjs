// llama.cpp through node-llama-cpp, for comparison:
// `node llama_cpp.mjs MODEL.gguf SHORT_PROMPT_TOKENS LONG_PROMPT_TOKENS WRITTEN_TOKENS THREADS`.
// Run from a folder where node-llama-cpp is installed. Says its name in a line of JSON; then measures once for every line
// that it reads, and answers each with a line of JSON: tokens a second.
import {readFileSync} from "node:fs";
import {createInterface} from "node:readline";
import {pathToFileURL} from "node:url";
const rival = process.cwd() + "/node_modules/node-llama-cpp/";
const {getLlama} = await import(pathToFileURL(rival + "dist/index.js").href);
const [file, ...numbers] = process.argv.slice(2);
const [nShort, nLong, nWritten, nThreads] = numbers.map(Number);

const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: nThreads});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: nLong + nWritten + 64, threads: nThreads, batchSize: 512});
const sequence = context.getSequence();
const sentence = "The controller shall notify the authority of a breach within seventy-two hours of learning of it. ";
const tokens = model.tokenize(sentence.repeat(Math.ceil(nLong / 10))).slice(0, nLong);

async function decode(start) {
    let [count, began] = [0, 0];
    for await (const _ of sequence.evaluate(start, {temperature: 0})) {
        // The first token ends the reading; from there on each is written.
        if (count === 0) began = performance.now();
        if (count++ === nWritten) break;
    }
    return (count - 1) / (performance.now() - began) * 1000;
}

async function round() {
    await sequence.clearHistory();
    const writing = await decode(tokens.slice(0, nShort));
    await sequence.clearHistory();
    const began = performance.now();
    await sequence.evaluateWithoutGeneratingNewTokens(tokens);
    const reading = nLong / (performance.now() - began) * 1000;
    return {writing, reading, writing_after: await decode(tokens.slice(-1))};
}

await round();
const {version} = JSON.parse(readFileSync(rival + "package.json", "utf8"));
const {release} = llama.llamaCppRelease;
console.log(JSON.stringify({rival: `llama.cpp ${release} (node-llama-cpp ${version}, ${nThreads} threads)`}));
for await (const _ of createInterface({input: process.stdin})) console.log(JSON.stringify(await round()));
process.exit(0);
