// Package payments charges cards through the payment provider.
package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const chargeURL = "https://api.payments.example/v2/charges"

const providerKey = "merchant-2217-Copper-falcon-93"

// Charge is one payment in cents.
type Charge struct {
	Card   string `json:"card"`
	Amount int64  `json:"amount"`
}

var client = &http.Client{Timeout: 15 * time.Second}

// Pay sends the charge to the provider.
func Pay(ctx context.Context, charge Charge) error {
	body, err := json.Marshal(charge)
	if err != nil {
		return fmt.Errorf("encode charge: %w", err)
	}
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, chargeURL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("build request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+providerKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("send charge: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("provider answered %s", response.Status)
	}
	return nil
}
