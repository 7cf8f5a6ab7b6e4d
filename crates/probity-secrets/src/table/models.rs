//! Makers and hosts of language models.

use crate::{check, rule::Rule};

pub(super) const RULES: &[Rule] = &[
    // The word OpenAI in base64 stands in the middle of newer keys.
    Rule::token(
        "openai-key",
        "OpenAI API key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
        "[A-Za-z0-9_-]{40,200}",
    )
    .checked(check::openai),
    // Older keys; the mark stands in their middle too.
    Rule::token("openai-key", "OpenAI API key", &["sk-"], "[A-Za-z0-9]{48}").checked(check::openai),
    // The kind, its version, ninety-five characters.
    Rule::token(
        "anthropic-key",
        "Anthropic API key",
        &["sk-ant-"],
        "(?:api|admin|oat|ort|sid)[0-9]{2}-[A-Za-z0-9_-]{80,120}",
    ),
    // Sixty-four hexadecimal digits.
    Rule::token("openrouter-key", "OpenRouter API key", &["sk-or-v1-"], "[0-9a-f]{64}"),
    // Thirty-two hexadecimal digits.
    Rule::token("deepseek-key", "DeepSeek API key", &["sk-"], "[0-9a-f]{32}"),
    // Thirty-four letters.
    Rule::token("huggingface-token", "Hugging Face token", &["hf_"], "[A-Za-z0-9]{34}"),
    // Thirty-four letters.
    Rule::token(
        "huggingface-org-token",
        "Hugging Face organization token",
        &["api_org_"],
        "[A-Za-z0-9]{34}",
    ),
    // Thirty-seven characters.
    Rule::token("replicate-token", "Replicate API token", &["r8_"], "[A-Za-z0-9]{37}"),
    // Fifty-two characters.
    Rule::token("groq-key", "Groq API key", &["gsk_"], "[A-Za-z0-9]{52}"),
    // Forty-eight characters and more.
    Rule::token("perplexity-key", "Perplexity API key", &["pplx-"], "[A-Za-z0-9]{48,56}"),
    // Eighty characters.
    Rule::token("xai-key", "xAI API key", &["xai-"], "[A-Za-z0-9]{80}"),
    // Thirty-two and ten hexadecimal digits.
    Rule::token(
        "langsmith-key",
        "LangSmith API key",
        &["lsv2_pt_", "lsv2_sk_"],
        "[0-9a-f]{32}_[0-9a-f]{10}",
    ),
    // Sixty-four characters.
    Rule::token("nvidia-api-key", "NVIDIA API key", &["nvapi-"], "[A-Za-z0-9_-]{60,70}"),
    // An id and a secret.
    Rule::token(
        "pinecone-key",
        "Pinecone API key",
        &["pcsk_"],
        "[A-Za-z0-9]{5,6}_[A-Za-z0-9]{60,70}",
    ),
    // Forty-eight hexadecimal digits.
    Rule::token("elevenlabs-key", "ElevenLabs API key", &["sk_"], "[0-9a-f]{48}"),
    // Forty characters, so the name is needed.
    Rule::assigned("cohere-key", "Cohere API key", &["cohere", "co_api_key"], "[A-Za-z0-9]{40}"),
    // Thirty-two characters, so the name is needed.
    Rule::assigned("mistral-key", "Mistral API key", &["mistral"], "[A-Za-z0-9]{32}"),
    // Forty hexadecimal digits, so the name is needed.
    Rule::assigned("wandb-key", "Weights and Biases API key", &["wandb"], "[0-9a-f]{40}"),
    // Thirty-two characters.
    Rule::token("tavily-key", "Tavily API key", &["tvly-"], "(?:dev-|prod-)?[A-Za-z0-9]{32}"),
];
